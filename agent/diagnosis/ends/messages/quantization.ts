// Checks of what quantizes a model, and of the kernels that run it: AutoAWQ, AutoGPTQ, GPTQModel, Marlin.
import { pipInstall } from '../../faults/remedies/pip.ts'
import { only, type Known } from './message.ts'

export const QUANTIZATION: readonly Known[] = [
  {
    pattern: /'Catcher' object has no attribute '(\w{1,60})'/,
    title: ([, name]) => `Transformers reads ${name} of what replaces a layer`,
    says: ([, name]) =>
      `While a model is quantized, a stand-in (Catcher) takes the place of its first layer, and this Transformers reads ${name} there, which older tools did not foresee.`,
    remedies: (_, { situation }) => [
      /autoawq|[\\/]awq[\\/]/i.test(situation.text) && {
        text: 'AutoAWQ is no longer developed; its last release was tested with Transformers 4.51.3.',
        command: pipInstall(situation, "autoawq 'transformers==4.51.3'", '--upgrade'),
      },
      { text: 'Else update what quantizes; GPTQModel and llm-compressor follow new releases of Transformers.' },
    ],
  },
  {
    // transformers, quantizer_mxfp4.py; the package is called kernels, not triton_kernels: https://github.com/hiyouga/LlamaFactory/issues/8995
    pattern: /MXFP4 quantization requires (?:Triton|triton) >= (\d[\d.]{0,6}\d)[^\n]{0,20} and (?:`?triton_)?kernels`? installed/,
    title: 'The kernels for MXFP4 are missing',
    says: 'Without them Transformers expands the weights to bf16, which takes about four times the memory.',
    remedies: ([, least], { situation }) => [
      { text: 'Install Triton and the package kernels.', command: pipInstall(situation, `'triton>=${least}' kernels`, '--upgrade') },
      { text: 'On a GPU before Hopper, or to train: load it with Mxfp4Config(dequantize=True), if bf16 fits.' },
    ],
  },
  {
    // gptq_marlin.cu: TORCH_CHECK(prob_m > 0 && …)
    pattern: /Invalid MNK = \[0, (\d{1,7}), (\d{1,7})\]/,
    title: 'The Marlin kernel was given no rows',
    says: 'The first number counts the rows. In a model of experts that is mostly one to which no token went.',
    remedies: () => [
      { text: 'Update the package that has the kernel (GPTQModel, vLLM): newer ones pass over such a call.' },
      { text: 'Or load the model with another kernel; for GPTQModel:', command: 'backend=BACKEND.TRITON' },
    ],
  },
  {
    pattern: /Marlin kernels are not installed\. Please install AWQ/,
    title: 'The kernels of AutoAWQ are not installed',
    remedies: (_, { situation }) => [{ text: 'Install them, for the PyTorch that is there.', command: pipInstall(situation, 'autoawq-kernels') }],
  },
  {
    pattern: /`?infeatures`? must be divisible by 128 and `?outfeatures`? by 256/,
    title: 'A layer of this model does not fit the Marlin kernel',
    says: 'Marlin takes only layers whose inputs are a multiple of 128 and whose outputs are one of 256.',
    remedies: only('Leave use_marlin out: ExLlama then runs the model, which takes other sizes too.'),
  },
  {
    pattern: /\bg?pt\w{0,4}_marlin\w{0,10} only supports bfloat16 and float16/,
    title: 'The Marlin kernel was given numbers of another type',
    says: 'Mostly they are float32.',
    remedies: (_, { situation }) => [
      situation.programs.has('vllm')
        ? { text: 'Run the model in one of the two types.', command: '--dtype float16' }
        : { text: 'Run the model in one of the two types (torch_dtype=torch.float16).' },
      { text: 'If it is set so already: update the server; a layer of the model passes on float32.' },
    ],
  },
]
