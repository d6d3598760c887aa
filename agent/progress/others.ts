// Lines of other programs than trainings: requests, copies, builds, blocks of a chain. By what only they print; how their figures move says nothing.

/** Access logs, packets, bytes, tasks of a queue, object files: nothing that is learned of their lines is progress. */
const FOREIGN =
  /\bHTTP\/|https?:\/\/|"(?:GET|POST|PUT) |\b(?:requests?|reqs?|queries|rps|qps|p9\d|latency|peers|slot|finalized\w*|validators?|mempool)\b|\b[kMGT]i?(?:B|bit|byte)s?\/s|\d[KMG]\/s(?:ec)?\b|\d ?[kMGT]i?B\/\d|\d ?[kMG]?Bytes\b|\d[kMG]->|\d ?[kMGT]?H\/s\b|\d (?:recs|records|rows) ?\/ ?s(?:ec)?\b|_seq=|\bsha\d{1,3}:|\b(?:hash|txs|mgas)=|\bnps \d|\(TID \d|\w\.o(?=[\s:]|$)|\btask\b.{1,80} (?:succeeded|received)\b|\bsql (?:table|view)\b|\bparams=\d|\d[KMG]i\b|^\s{0,12}(?:[✓✔✗✘×] |(?:not )?ok \d{1,6} |Fra:\d)|^(?:<\d{1,2}>)?\[ {0,8}\d{1,7}\.\d{6}\] |\b(?:heartbeat|raft|leader)\b|\b(?:DAGScheduler|TaskSetManager|TaskSchedulerImpl|SparkContext|MemoryStore|FileSourceStrategy|BlockManager\w{0,10})\b/i
export const isForeign = (text: string): boolean => FOREIGN.test(text)

/** Rows, files, pages that are moved or looked at: the progress of a tool, where no figure of a training is beside. */
const MOVED =
  /\b(?:rows|records|files|docs|documents|events|messages|msgs|objects|chunks|pages|inserts|lines|urls) ?\/ ?s(?:ec)?\b|^\W*(?:migrat|upload|import|export|index|copi|insert|scann|crawl|ingest|extract|compress|restor|back(?:ed|ing) up|synced)\w*\b|\d steps \(\d{1,3}%\) done|\b(?:rows|records)[ =:]{1,2}\d|\d (?:rows|records|chunks|documents|docs|files)\b|\bsectors? |^\W*matching block\b|^\W*(?:remote: )?[a-z]+(?: out)? (?:files|objects|deltas|references|content|index|commits|blobs): +\d{1,3}% \(\d{1,12}\/\d{1,12}\)/i
export const isMoved = (text: string): boolean => MOVED.test(text)

/** What a run was given, a line of an access log, of subtitles, of Python's profiler, a row of a tool that lists devices by their address on the bus or their health, an instruction of a Dockerfile, a channel of NCCL, a solver's report, a plan of a database, a list of files with a figure each, a sum of fractions in a text that a model wrote, a layer of Darknet: whatever is in it, nobody counts here. */
const NO_FIGURES =
  /\bRegion \d{1,3} Avg \(?IOU\b|^\s*\d{1,9}\s+\S{1,120}\.(?:pdb|cif|xyz|png|jpe?g|wav|mp[34]|npy|txt)\s+\d[\d.]{0,12}\s*$|\b[Hh]yper-?param(?:eter)?s?\b ?[:=] ?\{|^\s*# Subtest: |\d\/\d{1,9}\)? ?(?:[+×≈] ?\(?\d|= \(?\d{1,9}\/\d|as \d{1,9}\/\d)|^\s*[|│].{0,80}\b[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.\d\b|^\s*[|│] {0,4}\d{1,3} .{0,40}[|│] {0,4}(?:OK|Warning|Alarm|Critical|N\/A|Default) {0,16}[|│]|"(?:Startup|Total) Cost"|^\s*- \w[^\n]{1,600}:\s+(?:PENDING|RUNNING|PAUSED|TERMINATED|ERROR)\s*$|"(?:GET|POST|PUT|HEAD|DELETE|PATCH) [^"]{1,2000} HTTP\/|^\W{0,3}(?:\d\d:\d\d[.,]\d{3} )?--> \d\d:\d\d|^\s*step \d{1,4}\/\d{1,4} ?: [A-Z]{3,11} |\bNCCL INFO |\.py:\d{1,6}\([\w<>.]{1,60}\)\s*$|^\s*(?:residuals|parameters|iterations|(?:initial|final) cost) : \d/i
/** `Step 7: Generating figures`, `[Step 2/5] LOADING DATA`, `Step 4: Build the tools (ETA: 20 minutes)`: what a script does next. */
const PART =
  /^(?:.{0,60}\bINFO\b)?[\W_]{0,12}(?:[Ss]tep|STEP) \d{1,2}(?:\/\d{1,2})? ?[:.)\]] {0,3}(?:(?:[A-Z][a-z]{2,20}ing\b|[A-Z]{4,})(?!.*\b(?:nan|inf)\b)[^\d=]{0,120}|[A-Z][a-z]{2,20}\b[^\d=:]{2,100}[([–-] ?(?:ETA|[Ee]st(?:imated)?\b|[Aa]bout|~)[^\n]{1,40})$/
/** A cheap look first: most lines have no such word. */
const isPart = (text: string): boolean => (text.includes('tep ') || text.includes('STEP ')) && PART.test(text)
/** Another try of so many, the settings of a run, a formula, a comment of code, an error's own figures, a line of the kernel, the best of the epochs so far. */
const NO_COUNT =
  /\b(?:try(?:ing)? again|retry(?:ing)?|re-?connect(?:ing)?)\b.{0,60}\d{1,6}(?:\/| of )\d|\battempt \d{1,4}(?:\/| of )\d|^\W{0,3}(?:\w{1,20} )?(?:config\w{0,10}|args|arguments|hparams|settings|options|params|parameters) ?[:=] ?[{(]|[∝√]|: \/\/ |^\W{0,4}(?:ERROR|CRITICAL|FATAL)\b {0,8}[|:\]-](?!.*\b(?:loss|nan)\b)|\baudit\(\d|\bkernel: \[ {0,8}\d{1,7}\.\d{6}\]|^\W{0,3}(?:[a-z]\w{0,20}\W{1,3}){0,4}best\b.{0,80}\b(?:at|from|in|of|since) epoch \d/i
/** `Namespace(batch_size=16, epochs=90)`, `TrainConfig(steps=4000)`: what a run was given. */
const GIVEN = /(?:Namespace|Config|Args|Arguments|Params|Options|Settings)\(\w{1,40}=/
const isGiven = (text: string): boolean => text.includes('(') && GIVEN.test(text)
export const saysNothing = (text: string): boolean => NO_FIGURES.test(text) || NO_COUNT.test(text) || isPart(text) || isGiven(text)
