/**
 * Letters and digits of other scripts that look like one Latin letter or digit: the first of each text. Of
 * confusables.txt of Unicode (UTS #39), what NFKD leaves as it is, and lower case letters that look like
 * small capitals. Written out here: a workflow's bundle is no place for the whole of that file.
 */
const LOOK_ALIKES: ReadonlyArray<string> = [
  "AΑАᎪᗅᴀꓮ𖽀𐊠Ⲁ",
  "BʙΒВᏴᗷꓐꞴ𐊂𐊡𐌁Ⲃ",
  "CСᏟⲤꓚ𑣲𑣩𐊢𐌂𐐕𐔜",
  "DĐᎠᗞᗪᴅꓓ",
  "EΕЕᎬᴇⴹꓰ𑢦𑢮𐊆Ⲉ",
  "FϜᖴꓝꜰꞘ𑣂𑢢𐊇𐊥𐔥",
  "GɢԌᏀᏳꓖ",
  "HʜΗНᎻᕼⲎꓧ𐋏",
  "IƖǀɪΙІӀוןا١۱ߊᛁⲒⵏꓲ𐌠𞣇𖼨𐊊𐌉",
  "JͿЈᎫᒍᴊꓙꞲ",
  "KΚКᏦᛕᴋⲔꓗ𐔘",
  "LŁʟᏞᒪⳐꓡ𖼖𑢣𑢲𐐛𐔦",
  "MΜϺМᎷᗰᛖᴍⲘꓟ𐊰𐌑",
  "NɴΝⲚꓠ𐔓",
  "OØΟОՕ߀০ଠ୦ዐⲞⵔ〇ꓳ𑓐𑣠𐓂𑢵𐊒𐊫𐐄𐔖",
  "PΡРᏢᑭᴘⲢꓑ𐊕",
  "Qⵕ",
  "RƦʀᎡᏒᖇꓣ𐒴𖼵",
  "SЅՏᏕᏚꓢ𖼺𐊖𐐠",
  "TΤТᎢᴛⲦꓔ𖼊𑢼𐊗𐊱𐌕",
  "UՍሀᑌꓴ𐓎𖽂𑢸",
  "VѴ٧۷Ꮩᐯⴸꓦꛟ𖼈𑢠𐔝",
  "WԜᎳᏔꓪ𑣯𑣦",
  "XΧХᚷⲬⵝꓫꞳ𐌢𑣬𐊐𐊴𐌗𐔧",
  "YΥУҮᎩᎽⲨꓬ𖽃𑢤𐊲",
  "ZΖᏃꓜ𐋵𑣥𑢩Ⲍ",
  "aɑαа",
  "bƄβЬвᏏᖯ",
  "cсᴄⲥꮯ𐐽",
  "dđɖԁᏧᑯꓒ",
  "eеєҽꬲ",
  "fքẝꞙꬵ",
  "gƍɡցᶃ",
  "hнһհᏂ",
  "iıɩιіᎥꙇꭵ𑣃",
  "jϳј",
  "kĸκк",
  "lłӏ",
  "mм",
  "nոռ",
  "oøοσоօסه٥ھہە۵०੦૦௦౦೦ഠ൦๐໐ဝ၀ჿᴏᴑⲟꬽ𐓪𑣈𑣗𐐬",
  "pρрⲣ",
  "qԛգզ",
  "rгᴦⲅꭇꭈꮁ",
  "sƽѕꜱꮪ𑣁𐑈",
  "tτт",
  "uʋυսᴜꞟꭎꭒ𐓶𑣘",
  "vνѵטᴠꮩ𑜆𑣀",
  "wɯѡԝաᴡꮃ𑜊𑜎𑜏",
  "xхᕁᕽ",
  "yɣʏγуүყᶌỿꭚ𑣜",
  "zᴢꮓ𑣄",
  "2ꝚƧϨꙄᒿꛯ",
  "3ꞫȜƷꝪⳌЗӠ𖼻𑣊",
  "4Ꮞ𑢯",
  "5Ƽ𑢻",
  "6ⳒбᏮ𑣕",
  "7𐓒𑣆",
  "8৪੪𞣋ȣȢ𐌚",
  "9੧୨৭൭ꝮⳊ𑣌𑢬𑣖",
];

/** Symbols and punctuation that look like one Latin letter or digit, of the same data: `|` is read as an l. */
const SYMBOLS: ReadonlyArray<string> = [
  "3𝈆",
  "7𝈒",
  "C🝌",
  "E⋿",
  "F𝈓",
  "L𝈪",
  "R𝈖",
  "T⊤⟙🝨",
  "U∪⋃",
  "V𝈍",
  "X᙭╳",
  "a⍺",
  "e℮",
  "i⍳",
  "l׀|∣⏽￨│❘",
  "p⍴",
  "v∨⋁",
  "x᙮×⤫⤬⨯",
];

const latinOf = (rows: ReadonlyArray<string>): ReadonlyMap<string, string> =>
  new Map(
    rows.flatMap(([latin = "", ...others]) => others.map((other) => [other, latin] as const)),
  );

const LATIN = latinOf(LOOK_ALIKES);

const LATIN_OF_SYMBOL = latinOf(SYMBOLS);

/**
 * Write a text in Latin letters, as far as its letters look like them.
 *
 * @param text letters and digits, without marks.
 * @returns a text that looks much the same.
 */
export const inLatin = (text: string): string =>
  text.replaceAll(/./gu, (letter) => LATIN.get(letter) ?? letter);

/**
 * Find the letters that symbols of a text look like.
 *
 * @param text as it was written.
 * @returns each in small and in capitals; none where every letter is one.
 */
export const lettersOfSymbols = (text: string): ReadonlySet<string> =>
  new Set(
    Array.from(text).flatMap((symbol) => {
      const latin = LATIN_OF_SYMBOL.get(symbol);
      return latin === undefined ? [] : [latin.toLowerCase(), latin.toUpperCase()];
    }),
  );
