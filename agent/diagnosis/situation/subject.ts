// Names that are in a text and that a command can carry: GPU, container, pod, job, unit, image, script, model.
import type { Knowledge } from './knowledge.ts'
import { group as first } from './versions.ts'

export type Subject = {
  /** Full PCI address in lower case (0000:c1:00.0), when the text names one GPU. */
  readonly pci: string | undefined
  readonly uuid: string | undefined
  /** Name or id of the container. */
  readonly container: string | undefined
  readonly pod: string | undefined
  readonly namespace: string | undefined
  /** Service of a compose file. */
  readonly service: string | undefined
  readonly unit: string | undefined
  readonly slurmJob: string | undefined
  /** Host of a cluster, when the text names only one. */
  readonly node: string | undefined
  /** The machine of all that a launcher or a cluster speaks of: a node, or what a container calls itself. */
  readonly host: string | undefined
  /** Of the board of the only GPU of which the driver printed it. */
  readonly serial: string | undefined
  readonly lxc: string | undefined
  readonly image: string | undefined
  /** The user's own script, as a command would name it. */
  readonly script: string | undefined
}

const COMPOSE = /^([a-z][\w.-]{1,40}?)-\d{1,3} {1,10}\| /im
const CONTAINER =
  /\/docker[/-]([0-9a-f]{12})[0-9a-f]{0,52}\b|\bdocker-([0-9a-f]{12})[0-9a-f]{52}\.scope|\bdocker (?:exec|logs|restart|inspect|start)(?: -[\w-]{1,20}){0,4} ([\w][\w.-]{1,60})\b|\b(?:docker|podman)(?: container)? inspect (?:--format|-f)[= ]?(?:'[^'\n]{1,300}'|"[^"\n]{1,300}") ([\w][\w.-]{1,60})\b|\bcontainer (?:kill|die|oom) [0-9a-f]{12,64} \([^()\n]{0,300}\bname=([\w.-]{1,60})|"Name": ?"\/?([\w.-]{1,60})"|\broot@([0-9a-f]{12}):|failed to start container \\?"([\w.-]{1,60})\\?"/
const POD =
  /^\s{0,4}Name: {1,20}([a-z0-9][a-z0-9.-]{1,80})\s*\n(?:Namespace|Priority): |\[pod\/([a-z0-9.-]{1,80})\/|\bpods?=?[ :]?\\?"(?:[a-z0-9-]{1,60}\/)?([a-z0-9][a-z0-9.-]{1,80}?)(?:_[a-z0-9-]{1,60}\([0-9a-f-]{36}\))?\\?"|\bkubectl (?:(?:-n|--namespace)[ =][a-z0-9-]{1,60} )?(?:logs|exec|(?:describe|delete|get) pods?)(?: -(?!-|n\b)\w{1,3}| (?:-n|--namespace)[ =][a-z0-9-]{1,60}){0,3} ([a-z0-9](?:[a-z0-9.-]{0,80})[a-z0-9])(?: |$)|\bpods?[/ "']{1,2}(?!anti-|topology-)([a-z0-9](?:[a-z0-9.-]{0,60})-[a-z0-9]{5,10}(?:-[a-z0-9]{5})?|[a-z0-9-]{3,60}-\d{1,4})\b|^(?:[a-z0-9-]{1,60}[ \t]{1,40})?([a-z0-9][a-z0-9.-]{2,80})[ \t]{1,40}\d{1,2}\/\d{1,2}[ \t]{1,20}(?:OOMKilled|Error|CrashLoop|Pending|Evicted|Init:)/m
const NAMESPACE =
  /^\s{0,4}Namespace: {1,20}([a-z0-9-]{1,60})\s*$|\bnamespace[=: "']{1,4}([a-z0-9-]{1,60})\b|(?:^| )-n ([a-z0-9-]{1,60}) |\bpods?=?[ :]?\\?"(?:([a-z0-9-]{1,60})\/[a-z0-9.-]{1,80}|[a-z0-9.-]{1,80}_([a-z0-9-]{1,60})\([0-9a-f-]{36}\))\\?"/m
const JOB =
  /\bStepId=(\d{1,12})\b|\bJOB (\d{1,12})\b|\bSTEP (\d{1,12})\.|\bstep (\d{1,12})(?:\.\w{1,12})? cgroup|\bSLURM_JOB_ID=(\d{1,12})\b|\bslurm[-_](?:job[-_])?(\d{3,12})\b|\/job0*([1-9]\d{0,11})\/slurm_script\b/
/** Steps of an OOM first: another job may have been cancelled beside it. */
const OOM_JOB = /oom[-_ ]?kill[^\n]{0,80}?(?:StepId=|step )(\d{1,12})/
/** In the words of srun, slurmd, kubelet and its events; and the host in the head of a line of the kernel or of one of them. */
const NODE =
  /\bsrun: error: ([\w.-]{1,80}): task|\bON ([\w.-]{1,80}) CANCELLED AT\b|\bNode: {1,20}([\w.-]{1,80})(?:\/|\s)|\bkubelet, ([\w.-]{1,80})\s|\bSuccessfully assigned \S{1,120} to ([\w.-]{1,80})|^(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\d\d-\d\dT[\d:.+Z-]{8,24}) ([\w.-]{1,80}) (?:kernel|slurmd|slurmstepd|kubelet|k3s)(?:\[\d{1,9}\])?: /gm
/** In the report of torchrun. */
const HOST = /^ {1,8}host {1,8}: (?!localhost\b)([\w.-]{1,80})$/gm
const SERIAL = /\bGPU Board Serial Number: ([1-9]\d{5,20})\b/g
const XID_OF = /\bNVRM: Xid \(PCI:([\da-fA-F:.]{7,20})\)/g
const LXC = /\/lxc\/(\d{1,8}|[\w-]{1,40})\b/
const UNIT = /task_memcg=\/system\.slice\/([\w@.-]{1,60}\.service)|\b([\w@-]{1,60}\.service): (?:Main|A process|Failed)/
const SCRIPT = /\bpython3? (?:-u )?(?!-)([\w./-]{1,120}\.py)\b/
const FRAME = /File "(?!\S{0,200}(?:site-packages|dist-packages|\/lib\/python|\\lib\\))([^"<>\n]{1,200}\.py)", line \d/
const UUID = /\bGPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/
const PCI = /(?<![0-9a-fA-F])(?:0000)?([0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])(?![0-9a-fA-F])/
const IMAGE = /\bImage: {0,8}([\w./:@-]{3,160})|\bdocker run [^\n]{0,200}?(?<![\w./:$}-])((?!\d{1,5}:)[a-z][\w.-]{0,60}(?:\/[\w.-]{1,60}){0,3}:[\w.-]{1,60})/

/** Words of `docker run`: options that take the next word as their value. */
const WITH_VALUE =
  /^(?:-[a-zA-Z]{0,6}[vwpeumhla]|--(?:name|gpus|volume|env(?:-file)?|user|workdir|publish|hostname|memory|cpus|ulimit|mount|device|runtime|network|net|shm-size|ipc|entrypoint|restart|add-host|cap-add|security-opt|label|pid))$/
/** An image without a tag is known only as the first word that is no option. */
function imageRun(text: string): string | undefined {
  const words = (/\b(?:docker|podman) run ([^\n|;&]{1,400})/.exec(text)?.[1] ?? '').split(/ +/)
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (word.startsWith('-')) at += WITH_VALUE.test(word) ? 1 : 0
    else return /^[a-z0-9][\w.-]{0,80}(?:[/:][\w.-]{1,80}){0,4}$/.test(word) && words.length > 1 ? word : undefined
  }
  return undefined
}

/** Where a text names one and no other. */
function only(text: string, pattern: RegExp): string | undefined {
  const names = new Set([...text.matchAll(pattern)].map((match) => first(match)))
  return names.size === 1 ? [...names][0] : undefined
}

/** A command that goes on in the next line. */
const CONTINUED = /\\\r?\n\s{0,40}/g

/** Each name is looked for when it is asked for. */
export const subject = (text: string, knowledge: Knowledge): Subject => ({
  get pci() {
    return PCI.exec(text)?.[1]?.toLowerCase()
  },
  get uuid() {
    return UUID.exec(text)?.[0]
  },
  get container() {
    return knowledge.container ?? first(CONTAINER.exec(text))
  },
  get pod() {
    return knowledge.pod ?? first(POD.exec(text))
  },
  get namespace() {
    return knowledge.namespace ?? first(NAMESPACE.exec(text))
  },
  get service() {
    return COMPOSE.exec(text)?.[1]
  },
  get unit() {
    return first(UNIT.exec(text))
  },
  get slurmJob() {
    return OOM_JOB.exec(text)?.[1] ?? first(JOB.exec(text))
  },
  get node() {
    return only(text, NODE)
  },
  get host() {
    return only(text, NODE) ?? only(text, HOST)
  },
  get serial() {
    // Xids of several: whose board it is, is not said.
    return text.includes('NVRM: Xid') && only(text, XID_OF) === undefined ? undefined : only(text, SERIAL)
  },
  get lxc() {
    return LXC.exec(text)?.[1]
  },
  get image() {
    const joined = text.replaceAll(CONTINUED, ' ')
    return knowledge.image ?? first(IMAGE.exec(joined)) ?? imageRun(joined)
  },
  get script() {
    return SCRIPT.exec(text)?.[1] ?? FRAME.exec(text)?.[1]
  },
})
