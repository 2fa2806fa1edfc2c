{{- define "payments.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: worker
{{- end }}

{{- define "payments.pod" -}}
metadata:
  labels:
    {{- include "payments.labels" . | nindent 4 }}
  annotations:
    prometheus.io/scrape: "true"
    prometheus.io/port: "9090"
spec:
  automountServiceAccountToken: false
  # The worker finishes within 30 seconds what it has begun.
  terminationGracePeriodSeconds: 60
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile: { type: RuntimeDefault }
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "payments.labels" . | nindent 10 }}
  containers:
    - name: worker
      image: {{ .Values.image.name | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      env:
        - { name: PAYMENTS_HEALTH_ADDRESS, value: "0.0.0.0:9090" }
        - { name: NODE_COMPILE_CACHE, value: /tmp/compile-cache }
        - { name: PAYMENTS_BASE_URL, value: {{ .Values.service.baseUrl | quote }} }
        - { name: PAYMENTS_CLIENT_ID, value: {{ .Values.service.clientId | quote }} }
        - { name: PAYMENTS_API_KEY_FILE, value: /secrets/service/api-key }
        - name: PAYMENTS_LEDGER
          valueFrom:
            secretKeyRef: { name: {{ .Values.ledgerSecret | quote }}, key: address }
        {{- if not .Values.workerDeployment.enabled }}
        - { name: TEMPORAL_ADDRESS, value: {{ .Values.temporal.address | quote }} }
        - { name: TEMPORAL_NAMESPACE, value: {{ .Values.temporal.namespace | quote }} }
        - { name: TEMPORAL_TLS, value: "true" }
        {{- end }}
        {{- if .Values.temporal.tlsSecret }}
        - { name: TEMPORAL_TLS_CLIENT_CERT_PATH, value: /secrets/temporal-tls/tls.crt }
        - { name: TEMPORAL_TLS_CLIENT_KEY_PATH, value: /secrets/temporal-tls/tls.key }
        - { name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /secrets/temporal-tls/ca.crt }
        {{- end }}
        {{- if .Values.temporal.apiKeySecret }}
        - { name: TEMPORAL_API_KEY_FILE, value: /secrets/temporal/api-key }
        {{- end }}
        {{- if .Values.keyringSecret }}
        - { name: PAYMENTS_KEYRING, value: /secrets/keyring }
        {{- end }}
        {{- range $name, $value := .Values.settings }}
        - { name: {{ $name }}, value: {{ $value | quote }} }
        {{- end }}
      ports:
        - { name: health, containerPort: 9090 }
      startupProbe:
        httpGet: { path: /livez, port: health }
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /livez, port: health }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: health }
        periodSeconds: 10
        timeoutSeconds: 5
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: service-key, mountPath: /secrets/service, readOnly: true }
        {{- if .Values.temporal.tlsSecret }}
        - { name: temporal-tls, mountPath: /secrets/temporal-tls, readOnly: true }
        {{- end }}
        {{- if .Values.temporal.apiKeySecret }}
        - { name: temporal-key, mountPath: /secrets/temporal, readOnly: true }
        {{- end }}
        {{- if .Values.keyringSecret }}
        # The whole folder, no subPath: the keyring follows the secret.
        - { name: keyring, mountPath: /secrets/keyring, readOnly: true }
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: { sizeLimit: 256Mi }
    # Files of a secret follow it: a key is replaced without a restart.
    - name: service-key
      secret: { secretName: {{ .Values.service.apiKeySecret | quote }}, defaultMode: 0440 }
    {{- if .Values.temporal.tlsSecret }}
    - name: temporal-tls
      secret: { secretName: {{ .Values.temporal.tlsSecret | quote }}, defaultMode: 0440 }
    {{- end }}
    {{- if .Values.temporal.apiKeySecret }}
    - name: temporal-key
      secret: { secretName: {{ .Values.temporal.apiKeySecret | quote }}, defaultMode: 0440 }
    {{- end }}
    {{- if .Values.keyringSecret }}
    - name: keyring
      secret: { secretName: {{ .Values.keyringSecret | quote }}, defaultMode: 0440 }
    {{- end }}
{{- end }}
