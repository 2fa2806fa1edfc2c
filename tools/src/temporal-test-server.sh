#!/bin/sh
# Small heap and the quick compiler: the SDK waits no longer than 5 seconds for the start.
folder=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx256m \
  -cp "$folder/lib/*" io.temporal.testserver.TestServer "$@"
