// LoRA adapters that a server does not accept: not there, or made for other parts of the model than it can adapt.
import { ruleFamily, type Rule } from './parts/rules.ts'

const MERGE = {
  text: 'Merge the adapter into its model, and serve that (PEFT: merge_and_unload, then save_pretrained).',
} as const
const other: Omit<Rule, 'pattern' | 'verdict'> = {
  severity: 'critical',
  title: 'The LoRA adapter changes parts that the server cannot adapt',
  remedies: [
    MERGE,
    { text: 'Or train it without them: no modules_to_save (lm_head, embed_tokens), and target_modules of the layers that the server lists.' },
    { text: 'If names differ only in a prefix, the adapter is of another class of the model: rename its keys, or update the server.' },
  ],
}

export const adapters = ruleFamily({
  id: 'adapters',
  kind: 'checkpoint_mismatch',
  literals: ['expected target modules in ', 'is unsupported LoRA weight', 'No adapter found for '],
  rules: [
    {
      ...other,
      pattern: /expected target modules in [[{][^\]}\n]{0,400}[\]}] but received \[([^\]\n]{1,300})/,
      verdict: ({ match }) =>
        `The adapter holds weights for ${[...new Set((match[1] ?? '').replaceAll(/['" ]/g, '').split(','))].slice(0, 4).join(', ')}, for which this server has no LoRA.`,
    },
    {
      ...other,
      pattern: /([\w.]{3,160}) is unsupported LoRA weight/,
      verdict: ({ match }) => `The adapter holds ${match[1]}, which is no weight of LoRA that this server can load.`,
    },
    {
      pattern: /No adapter found for ([^\s"'\]]{2,300})/,
      kind: 'file_missing',
      severity: 'critical',
      title: 'The LoRA adapter is not where the server looks',
      verdict: ({ match }) =>
        `There is no adapter_config.json in ${match[1]}: the path is wrong, not mounted into the container, or the option was not read as it was meant.`,
      remedies: ({ match }) => [
        {
          text: 'See whether adapter_config.json and adapter_model.safetensors are there, where the server runs.',
          command: `ls -l ${/^[\w./-]+$/.test(match[1] ?? '') ? match[1] : '<FOLDER>'}`,
        },
        {
          text: 'Name it as name=path (or one object of JSON in single quotes), without brackets and quotes around it.',
          command: '--enable-lora --lora-modules <NAME>=<FOLDER>',
        },
      ],
    },
  ],
})
