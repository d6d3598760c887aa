// Ends of jobs of the kind config_error; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  { name: 'argparse', text: 'usage: main.py [-h] [--lr LR]\nmain.py: error: unrecognized arguments: --lrr 3', kinds: ['config_error'] },
  {
    name: 'a key that is not there',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nomegaconf.errors.ConfigAttributeError: Key \'optimiser\' is not in struct\n    full_key: optimiser',
    kinds: ['config_error'],
    facts: { exception: 'ConfigAttributeError' },
  },
  {
    name: 'a combination',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nValueError: num_heads (12) must be divisible by tensor_parallel_size (8)',
    kinds: ['config_error'],
    facts: { exception: 'ValueError', frame: 'main.py:41' },
  },
  {
    name: 'pydantic',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\npydantic_core._pydantic_core.ValidationError: 2 validation errors for ServerSettings\nport\n  Input should be a valid integer',
    kinds: ['config_error'],
    facts: { exception: 'ValidationError' },
  },
  { name: 'quiet: a deprecated flag', text: 'main.py: warning: --lr is deprecated, use --learning-rate', kinds: [] },
  {
    name: 'a limit of the model',
    text: 'ValueError: User-specified max_model_len (9000) is greater than the derived max_model_len (max_position_embeddings=4096). This may lead to CUDA errors.',
    kinds: ['config_error'],
    facts: { exception: 'ValueError' },
  },
  {
    name: 'an option that is not set',
    text: 'Error: `--pooling` arg is not set and no configuration was found for this model.',
    kinds: ['config_error'],
  },
  {
    name: 'llama.cpp does not know a model',
    text: "llama_model_load: error loading model: error loading model architecture: unknown model architecture: 'nova9'\nllama_load_model_from_file: failed to load model",
    kinds: ['config_error'],
  },
  {
    name: 'a padding token',
    text: 'ValueError: Asking to pad but the tokenizer does not have a padding token. Please select a token to use as `pad_token`.',
    kinds: ['config_error'],
  },
  { name: 'heads', text: `ValueError: Total number of attention heads (40) must be divisible by tensor parallel size (6).`, kinds: ['config_error'] },
  {
    name: 'a longer context',
    text: `ValueError: User-specified max_model_len (65536) is greater than the derived max_model_len (max_position_embeddings=32768 or model_max_length=None in model's config.json).`,
    kinds: ['config_error'],
  },
  {
    name: 'a model that is newer',
    text: `ValueError: The checkpoint you are trying to load has model type \`newmodel\` but Transformers does not recognize this architecture.`,
    kinds: ['config_error'],
  },
  {
    name: 'a compose file',
    text: 'validating /srv/c.yml: services.web.deploy.resources.reservations.devices.0 capabilities is required',
    kinds: ['config_error'],
  },
  {
    name: 'packages of two repositories',
    text: ' nvidia-driver-575 : Depends: libnvidia-gl-575 (= 575.10-1) but 575.08-1 is to be installed',
    kinds: ['config_error'],
  },
  { name: 'a secret', text: 'Warning  Failed  4s  kubelet  Error: secret "pull-key" not found', kinds: ['config_error'] },
  { name: 'tool calls', text: 'ERROR: "auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', kinds: ['config_error'] },
  {
    name: 'conda in a batch job',
    text: "\nCommandNotFoundError: Your shell has not been properly configured to use 'conda activate'.\nTo initialize your shell, run\n",
    kinds: ['config_error'],
  },
  {
    name: 'Typer puts it in a box',
    text: "Usage: fit.py [OPTIONS] DATA\n╭─ Error ───────────────────────────────────────╮\n│ Invalid value for 'DATA': 'x' is not a folder. │\n╰────────────────────────────────────────────────╯",
    kinds: ['config_error'],
  },
]
