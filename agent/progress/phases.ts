// What a bar or a line is busy with when it is not the job's own progress: by the words of its title.
import { memo } from './memo.ts'
import type { Phase } from './observation.ts'

/** In this order: `Downloading the validation set` is a download. */
const WORDS: readonly (readonly [Phase, RegExp])[] = [
  [
    'downloading',
    /\b(?:download\w*|fetch\w*|pull\w*|collecting|installing|upload\w*|transferr?ing|syncing|unpacking|t[ée]l[ée]charg\w*|herunterlad\w*|descarg\w*)\b|下载|\.(?:zip|tar|gz|tgz|whl|safetensors|bin|pth?|ckpt|parquet|arrow|jsonl?|gguf|onnx|deb|msgpack|h5)\b/i,
  ],
  ['saving', /\b(?:saving|writing|dumping|checkpointing|exporting|converting|merging|quanti[sz]\w*|gptq|awq|pushing)\b/i],
  [
    'preparing',
    /\b(?:map|filter|casting|generating \w+ split|\w*tokeni[sz]\w*|pre-?process\w*|prepar\w*|pack(?:ing)?|cach(?:e|ing)|preload\w*|pre-?comput\w*|encoding|splitting|scanning|indexing|extract\w*|pars(?:e|ing)|reading|flatten\w*|group\w*|shuffl\w*|dedup\w*|sharding|building|creating|counting|collating|num_proc|resolving|decoding|concatenating|concat|sort(?:ing)?|truncat\w*|adding \w+|formatting|applying|converting|standardi[sz]ing|vectori[sz]ing|sampling dataset|statistics|vocab\w*|corpus|bucket\w*|feature\w* extraction|standardizing|comput(?:e|ing)|calculat\w*|(?<!train.{0,20})embeddings|quer(?:y|ying)|removing|dropping|skipping|verifying|hashing|resizing|rendering|aggregating|checking|clean(?:ing|up)|normali[sz]ing|segmenting|resampl\w*|chunking|scraping|crawling|(?:un)?zipping|deleting|(?:de)?compressing|aligning|cropping|trimming|transcoding|annotating|label+ing|gathering|anchors|processing (?:\w+ )?files)\b|数据|加载/i,
  ],
  [
    'loading',
    /\b(?:load\w*|copying|moving|checkpoint shards|shards?|weights|materializ\w*|initiali[sz]\w*|initing|warm-?up|warming|compil\w*|captur\w*|cuda graph\w*|autotun\w*|(?<!fine.?)tuning|profil\w*|benchmark\w* kernels?|calibrat\w*|jit\w*|charg(?:ement|er)|l[aä]d(?:e|en))\b/i,
  ],
  [
    'evaluating',
    /^\W*(?:dev|held.?out)\b|\b(?:valid\w*|val|cv(?= batch)|eval\w*|test\w*|infer\w*|predict\w*|sanity|dev set|mAP\w*|metrics?(?! (?:step|iter|update))|bleu|scoring)\b|验证|测试|评估/i,
  ],
]

/** Layer by layer a model is made smaller: the work of such a job, not what comes before it. */
const OF_LAYERS = /^\W*(?:compress|prun|sparsify|distill)ing\b.{0,24}\b(?:layers?|blocks?|modules?)\b/i
/** `Scoring answers.jsonl`: what is done says more than the name of the file. */
const EVALUATING = /^\W*(?:evaluating|scoring|testing|predicting|inferring)\b(?!\W*(?:download|upload|sav|load|writ))/i
export const phaseOf = memo((title): Phase | undefined =>
  title === '' || OF_LAYERS.test(title) ? undefined : EVALUATING.test(title) ? 'evaluating' : WORDS.find(([, words]) => words.test(title))?.[0],
)

const TRAINING = /\b(?:train\w*|epochs?|steps?|iter\w*|fine-?tun\w*|sft|dpo|ppo|grpo|rlhf|fit\w*|optimi[sz]\w*|learn\w*|rollouts?|batch(?:es)?)\b|训练/i
export const saysTraining = (title: string): boolean => TRAINING.test(title)

/** What a bar says that it does, where it is no training and no use of a model: `Captioning dataset`, `Tarring`. */
const DOING = /^\W*([a-z-]{1,24}ing)\b/i
const OWN_WORK =
  /^(?:pre-?|post-?|fine-?|re-?)?(?:train|learn|tun|fitt|optimi[sz]|boost|sampl|generat|gett|answer|infer|predict|process|runn|iterat|simulat|solv|denois|diffus|distill|search|evolv|play|explor|translat|transcrib|decod|evaluat|test|validat|work|inpaint|upscal|updat|scor|refin|adapt|cluster|grow|stepp|integrat|forecast|roll|judg|perform|execut|edit|draw)\w*$/i
export const doesOther = memo((title): boolean => {
  const doing = DOING.exec(title)?.[1]
  return doing !== undefined && !OWN_WORK.test(doing) && !TRAINING.test(title) && !OF_LAYERS.test(title)
})
