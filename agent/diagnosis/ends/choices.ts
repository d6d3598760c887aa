// The values that a message lists as possible, and the one that it was given.
const LIST = /[[({]\s{0,2}((?:['"`]?[\w.+/-]{1,60}['"`]?(?:\s{0,2},\s{0,2}|(?=\s{0,2}[\])}]))){1,30})\s{0,2}[\])}]/.source
const QUOTED = /((?:['"`][\w.+-]{1,40}['"`](?:(?:,? (?:or|and) |, ?)(?=['"`]))?){2,20})/.source
const OFFERS = new RegExp(
  `(?:\\b(?:[Aa]vailable|[Pp]ossible|[Ss]upported|[Aa]llowed|[Vv]alid|[Kk]nown|[Ee]xpected|[Pp]ermitted|[Aa]ccepted)(?: [\\w-]{2,20}){0,3}(?: are| is)?:? ?|\\b(?:[Cc]hoose|[Pp]ick|[Ss]elect)(?: one)?(?: from| of| among)?:? ?|\\bone of:? ?|(?:options|choices|values|names|keys|splits|configs) (?:are|is):? ?|\\b(?:must|should) be (?:either |in ))(?:${LIST}|${QUOTED})`,
)
const GIVEN =
  /(?:[Uu]nknown|[Ii]nvalid|[Uu]nsupported|[Uu]nrecognized)(?: [\w-]{2,20}){0,3}:? ?['"`]([\w.+/-]{1,60})['"`]|['"`]([\w.+/-]{1,60})['"`] (?:is )?(?:not (?:found|in|among|supported|valid|recognized|one of)|does not exist)|(?:got|found|received|passed)(?: instead)?:? ?['"`]([\w.+/-]{1,60})['"`]/

export function choicesIn(message: string): { readonly list: readonly string[]; readonly given: string | undefined } | undefined {
  const match = OFFERS.exec(message)
  const words = match?.[1] ?? match?.[2]
  if (words === undefined) return undefined
  const list = [...words.matchAll(/['"`]([^'"`]{1,60})['"`]/g)].flatMap(([, one]) => one ?? [])
  const plain = list.length > 0 ? list : words.split(',').map((one) => one.trim())
  const given = GIVEN.exec(message)
    ?.slice(1)
    .find((one) => one !== undefined)
  return plain.every((one) => /^[\d.]*$/.test(one)) ? undefined : { list: plain.slice(0, 8), given }
}
