// What to change when host memory ran out: at the limit that was reached, in the program, on the host.
import { isDescribed } from '../remedies/kubernetes.ts'
import { gib } from '../../../text/bytes.ts'
import type { Facts } from '../../../model/facts.ts'
import type { Situation } from '../../situation/situation.ts'
import type { Advice, Piece } from '../remedies/plan.ts'

const BIGGEST: Piece = { text: 'See which processes use the most memory now.', command: 'ps -eo pid,user,rss,args --sort=-rss | head' }
export const KERNEL_LOG: Advice = {
  text: "See in the kernel's log whether its OOM killer did it.",
  command: "sudo dmesg -T | grep -iE 'killed process|oom-kill' | tail",
}

/** Twice of what was too little, as Docker and systemd write it (512m, 64g). */
function doubled(limit: number | undefined): string | undefined {
  if (limit === undefined) return undefined
  const mib = Math.ceil((2 * limit) / 2 ** 20)
  return mib >= 4_096 ? `${Math.ceil(mib / 1_024)}g` : `${mib}m`
}

const ASKED = /(?:#SBATCH |\bs(?:batch|run) [^\n]{0,200}?)--mem[= ](\d{1,9})([KMGT]?)/i
export function slurmRemedies(job: string | undefined, text: string, limitBytes?: number): readonly Piece[] {
  const [, amount, unit = ''] = ASKED.exec(text) ?? []
  const limit = limitBytes === undefined ? undefined : Math.round(limitBytes / 2 ** 30)
  const now = amount === undefined || amount === '0' ? (limit === undefined || limit < 1 ? undefined : `${limit}G`) : `${amount}${unit.toUpperCase()}`
  // Without a unit Slurm counts in megabytes.
  const meant = unit === '' && amount !== undefined && Number(amount) > 0 && Number(amount) < 1024 ? `${amount}G` : undefined
  return [
    meant !== undefined && {
      text: `--mem=${amount} is ${amount} MB, since Slurm counts in megabytes where no unit is given: write ${meant}.`,
      command: `sbatch --mem=${meant} <SCRIPT>`,
    },
    { text: 'See what each step of the job used and what it had asked for.', command: `sacct -j ${job ?? '<JOB_ID>'} --format=JobID,MaxRSS,ReqMem,State` },
    meant === undefined && {
      text: `Ask for more memory than the largest MaxRSS: per node, or per CPU with --mem-per-cpu${now === undefined ? '' : ` (now --mem=${now}; the command doubles it)`}.`,
      command: `sbatch --mem=${now === undefined ? '<SIZE>' : now.replace(/\d+/, (size) => String(2 * Number(size)))} <SCRIPT>`,
    },
  ]
}

/** What made a pod, as its name shows: NAME-HASH-ID of a Deployment, NAME-0 of a StatefulSet. */
function ownerOf(pod: string | undefined): string {
  const deployment = /^(.{1,60})-[0-9a-f]{6,10}-[a-z0-9]{5}$/.exec(pod ?? '')?.[1]
  const set = /^(.{1,60})-\d{1,4}$/.exec(pod ?? '')?.[1]
  return deployment !== undefined ? `deployment ${deployment}` : set !== undefined ? `statefulset ${set}` : 'deployment <DEPLOYMENT>'
}

/** `docker run --memory=16g`, as the text shows it. */
const GIVEN = /\b(?:docker|podman) run [^\n]{0,600}?(?:--memory|-m)[= ](\d{1,6})([bkmg]?)\b/i
export function givenLimit({ text }: Situation): number | undefined {
  const [, amount, unit = ''] = GIVEN.exec(text) ?? []
  return amount === undefined ? undefined : Number(amount) * 1024 ** 'bkmg'.indexOf(unit === '' ? 'b' : unit.toLowerCase())
}

/** Where the limit that was reached is set. `group`: the cgroup, where the kernel names it. */
export function raiseLimit(facts: Facts, situation: Situation, group?: string): readonly Piece[] {
  const { container, pod, namespace, lxc, service, slurmJob } = situation.subject
  const size = doubled(facts.limit_bytes)
  const now = facts.limit_bytes === undefined ? '' : ` (now ${gib(facts.limit_bytes)}; the command doubles it)`
  const unit = /\/([\w@.-]{1,60}\.service)/.exec(group ?? '')?.[1]
  if (situation.programs.has('slurm') || /\/slurm/.test(group ?? ''))
    return slurmRemedies(/\/job_(\d{1,12})/.exec(group ?? '')?.[1] ?? slurmJob, situation.text, facts.limit_bytes)
  if (/\/lxc\//.test(group ?? '') || lxc !== undefined)
    return [
      {
        text: `Raise the memory of the LXC container (figure in MiB)${now.replace(/;.*$/, ')')}.`,
        command: `sudo pct set ${lxc ?? '<CONTAINER>'} --memory <MIB>`,
      },
    ]
  const pods = (group ?? '').includes('kubepods')
  const docker = /\/docker[/-]|docker-[0-9a-f]{12}/.test(group ?? '') || situation.programs.has('docker') || situation.programs.has('compose')
  if (pods || (situation.programs.has('kubernetes') && !(docker && container !== undefined && pod === undefined))) {
    const where = namespace === undefined ? '' : ` -n ${namespace}`
    // With the systemd driver the kernel's path has underscores for the dashes of the uid.
    const uid = /pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12})/.exec(`${group ?? ''} ${situation.text}`)?.[1]?.replaceAll('_', '-')
    return [
      pod === undefined && uid !== undefined
        ? {
            text: 'See which pod it is: the kernel names it by its uid.',
            command: `kubectl get pods -A -o custom-columns=ns:.metadata.namespace,name:.metadata.name,uid:.metadata.uid | grep ${uid}`,
          }
        : // The text is what that prints.
          !isDescribed(situation) && {
            text: 'See the limit of the pod, and how often it was killed.',
            command: `kubectl describe pod ${pod ?? '<POD>'}${where}`,
          },
      {
        text: `Raise the container's memory limit (resources.limits.memory)${now}.`,
        command: `kubectl set resources ${ownerOf(pod)}${where} --limits=memory=${size === undefined ? '<SIZE>' : size.replace('g', 'Gi').replace('m', 'Mi')}`,
      },
    ]
  }
  if (docker) {
    const limit = size ?? '<SIZE>'
    return [
      service === undefined
        ? { text: `Raise the container's memory limit${now}.`, command: `docker update --memory ${limit} --memory-swap ${limit} ${container ?? '<CONTAINER>'}` }
        : {
            text: `Raise the memory limit of the service ${service} in the compose file (mem_limit or deploy.resources.limits.memory), then start it again.`,
            command: `docker compose up -d ${service}`,
          },
    ]
  }
  if (unit !== undefined)
    return [{ text: `Raise the memory limit of ${unit}.`, command: `sudo systemctl set-property ${unit} MemoryMax=${size?.toUpperCase() ?? '<SIZE>'}` }]
  return [{ text: `Raise or remove the memory limit${group === undefined ? '' : ` of the cgroup ${group}`}${now.replace(/;.*$/, ')')}.` }]
}

/** kubectl describe, in columns. */
/** What a server was told to keep in host memory, in GiB. docs.vllm.ai, engine arguments: swap-space is for each GPU. */
const KEPT_BY_SERVER = /--(swap-space|cpu-offload-gb|kv-offloading-size)[=\s]\s{0,20}["']?(\d{1,5})\b/

const LOADS_SHARDS = /^Loading checkpoint shards: {1,4}\d{1,2}%/m
const loading = new WeakMap<Situation, boolean>()
function loadsData(situation: Situation): boolean {
  let known = loading.get(situation)
  if (known === undefined) loading.set(situation, (known = /DataLoader|num_workers/.test(situation.text)))
  return known
}
/** tools/server of llama.cpp: what it computed for prompts that another one displaced. */
const PROMPT_CACHE = /\bprompt_save: |\bupdating prompt cache\b|\bprompt cache\b|--cache-ram\b/
const cacheNow = (text: string): string => {
  const [, set] = /--cache-ram[ =](\d{1,7})\b/.exec(text) ?? []
  const [, saved] = [...text.matchAll(/saving prompt with length \d{1,8}, total state size = ([\d.]{1,12}) MiB/g)].at(-1) ?? []
  return `${set === undefined ? '' : `; ${set} is set`}${saved === undefined ? '' : `; the last prompt took ${gib(Number(saved) * 2 ** 20)}`}`
}
/** Programs that hold Python data sets or weights; nothing of this helps a browser or a data base. */
export function needLess(facts: Facts, situation: Situation): readonly Piece[] {
  const python =
    facts.process === undefined ? situation.programs.has('pytorch') || situation.programs.has('transformers') : /^(?:python|pt_|ray::)/.test(facts.process)
  const runner = facts.process === undefined ? situation.programs.has('ollama') || situation.programs.has('llamacpp') : /^(?:ollama|llama)/.test(facts.process)
  const [, kept, gigabytes] = KEPT_BY_SERVER.exec(situation.text) ?? []
  return [
    kept !== undefined &&
      Number(gigabytes) > 0 && {
        text: `Give --${kept} less than ${gigabytes}: it keeps so many GiB of host memory${kept === 'swap-space' ? ' for each GPU' : ''}, and counts against the limit.`,
      },
    /\bninja\b|\bnvcc\b|\bcc1plus\b|\bcicc\b|[Bb]uilding wheel/.test(situation.text) && {
      text: 'It was killed while it compiled: compile fewer files at once, each takes several GiB.',
      command: 'export MAX_JOBS=2',
    },
    runner &&
      PROMPT_CACHE.test(situation.text) && {
        text: `Let llama.cpp keep fewer prompts in host memory (MiB; 8192 where nothing is set, 0 for none)${cacheNow(situation.text)}.`,
        command: situation.programs.has('ollama') ? 'export LLAMA_ARG_CACHE_RAM=512' : '--cache-ram 512',
      },
    runner && {
      text: 'Run a smaller model or quantization, or a shorter context, or put more layers on the GPU where it has space.',
    },
    loadsData(situation) && {
      text: 'Use fewer DataLoader workers (num_workers) and a smaller prefetch_factor: each worker holds its own copy of Python objects.',
    },
    python &&
      !isSmall(facts) &&
      !loadsData(situation) && {
        text: 'Load less into host memory at once: stream the data, load weights memory-mapped (safetensors), start fewer processes.',
      },
    LOADS_SHARDS.test(situation.text) && {
      text: 'It was loading weights, for all of which host memory must have space: load them in 16 bit and straight to the GPU (from_pretrained(…, torch_dtype="auto", device_map="auto")), or a quantized model.',
    },
    situation.programs.has('ray') && {
      text: 'Let Ray run fewer tasks at once on a node: ask for more per task (num_cpus= or memory= in @ray.remote).',
    },
  ]
}

/** Nothing is won by what such a process would do with less. */
const SMALL = 64 * 2 ** 20
const isSmall = ({ process, anon_rss_bytes: held }: Facts): boolean => process !== undefined && held !== undefined && held < SMALL

export const MORE_FOR_WSL: Advice = {
  text: 'WSL 2 takes half of the memory of Windows by default: raise it in %UserProfile%\\.wslconfig (section [wsl2], memory=), then restart WSL.',
}
/** The whole host ran out. */
export const hostFull = (facts: Facts, situation: Situation): readonly Piece[] => [
  BIGGEST,
  ...(isSmall(facts)
    ? [
        {
          text: `${facts.process} was small: something else filled the memory. See what the kernel itself and shared memory hold (Slab, Shmem, HugePages).`,
          command: "grep -E 'MemFree|MemAvailable|Slab|Shmem|Unevictable|HugePages_Total|Hugetlb' /proc/meminfo; df -h -t tmpfs",
        },
      ]
    : []),
  situation.system === 'wsl' && MORE_FOR_WSL,
  !isSmall(facts) && needLess(facts, situation),
  {
    text: `Run fewer programs on this host at once, add memory or swap, or limit the largest one${facts.process === undefined || isSmall(facts) ? '' : facts.anon_rss_bytes === undefined ? ` (${facts.process} was chosen)` : ` (${facts.process} held ${gib(facts.anon_rss_bytes)})`}.`,
  },
]
