/**
 * Letters and digits of other scripts that look like one Latin letter: the first of each text. Of
 * confusables.txt of Unicode (UTS #39), what NFKD leaves as it is, and lower case letters that look like
 * small capitals.
 */
const LOOK_ALIKES: ReadonlyArray<string> = [
  "AΑАᎪᗅᴀꓮ",
  "BʙΒВᏴᗷꓐꞴ",
  "CСᏟⲤꓚ",
  "DĐᎠᗞᗪᴅꓓ",
  "EΕЕᎬᴇⴹꓰ",
  "FϜᖴꓝꜰꞘ",
  "GɢԌᏀᏳꓖ",
  "HʜΗНᎻᕼⲎꓧ",
  "IƖǀɪΙІӀוןا١۱ߊᛁⲒⵏꓲ",
  "JͿЈᎫᒍᴊꓙꞲ",
  "KΚКᏦᛕᴋⲔꓗ",
  "LŁʟᏞᒪⳐꓡ",
  "MΜϺМᎷᗰᛖᴍⲘꓟ",
  "NɴΝⲚꓠ",
  "OØΟОՕ߀০ଠ୦ዐⲞⵔ〇ꓳ",
  "PΡРᏢᑭᴘⲢꓑ",
  "Qⵕ",
  "RƦʀᎡᏒᖇꓣ",
  "SЅՏᏕᏚꓢ",
  "TΤТᎢᴛⲦꓔ",
  "UՍሀᑌꓴ",
  "VѴ٧۷Ꮩᐯⴸꓦꛟ",
  "WԜᎳᏔꓪ",
  "XΧХᚷⲬⵝꓫꞳ",
  "YΥУҮᎩᎽⲨꓬ",
  "ZΖᏃꓜ",
  "aɑαа",
  "bƄβЬвᏏᖯ",
  "cсᴄⲥꮯ",
  "dđɖԁᏧᑯꓒ",
  "eеєҽꬲ",
  "fքẝꞙꬵ",
  "gƍɡցᶃ",
  "hнһհᏂ",
  "iıɩιіᎥꙇꭵ",
  "jϳј",
  "kĸκк",
  "lłӏ",
  "mм",
  "nոռ",
  "oøοσоօסه٥ھہە۵०੦૦௦౦೦ഠ൦๐໐ဝ၀ჿᴏᴑⲟꬽ",
  "pρрⲣ",
  "qԛգզ",
  "rгᴦⲅꭇꭈꮁ",
  "sƽѕꜱꮪ",
  "tτт",
  "uʋυսᴜꞟꭎꭒ",
  "vνѵטᴠꮩ",
  "wɯѡԝաᴡꮃ",
  "xхᕁᕽ",
  "yɣʏγуүყᶌỿꭚ",
  "zᴢꮓ",
];

const LATIN: ReadonlyMap<string, string> = new Map(
  LOOK_ALIKES.flatMap(([latin = "", ...others]) => others.map((other) => [other, latin] as const)),
);

/**
 * Write a text in Latin letters, as far as its letters look like them.
 *
 * @param text letters and digits, without marks.
 * @returns a text that looks much the same.
 */
export const inLatin = (text: string): string =>
  text.replaceAll(/./gu, (letter) => LATIN.get(letter) ?? letter);
