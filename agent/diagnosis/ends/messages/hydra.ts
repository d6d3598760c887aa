// Hydra's and OmegaConf's messages about the configuration that they compose.
import type { Known } from './message.ts'

const FULL = 'HYDRA_FULL_ERROR=1'
const full = (script: string | undefined): string => `${FULL} python ${script ?? '<SCRIPT>'}`

export const HYDRA: readonly Known[] = [
  {
    pattern: /Error locating target '([\w.]{1,200})'/,
    // Where the text names the missing module, that is reported instead.
    when: ({ facts }) => facts.module === undefined,
    title: ([, target]) => `Hydra could not import ${target}`,
    says: 'Either the path is wrong, or that module failed while it was imported.',
    remedies: ([, target = ''], { situation }) => [
      {
        text: 'Import it without Hydra: the error that it hides is then shown (a package that is missing, a name that moved).',
        command: `python -c "import ${target.replace(/\.[^.]*$/, '')}"`,
      },
      { text: 'Or let Hydra print the whole chain.', command: full(situation.subject.script) },
    ],
  },
  {
    pattern: /^In '[^'\n]{1,200}': Could not find '([^'\n]{1,120})'|^Primary config (?:module|directory|file)/,
    remedies: ([, option]) => [
      {
        text:
          option === undefined
            ? 'Correct config_path and config_name of @hydra.main, or pass --config-dir and --config-name: the path is relative to the script, not to the folder in which the job was started.'
            : `There is no ${option}.yaml in the search path: choose one of the options that the message lists, or add the file.`,
      },
      { text: 'See where Hydra looks, and what it composed.', command: 'python <SCRIPT> --info searchpath; python <SCRIPT> --cfg job' },
    ],
  },
  {
    pattern: /Could not override '([\w.@/:-]{1,160})'/,
    title: ([, key]) => `The configuration has no ${key}`,
    remedies: ([, key], { situation }) => [
      {
        text: `Correct its name, or write it with a plus sign, so that it is added.`,
        command: `python ${situation.subject.script ?? '<SCRIPT>'} +${key}=<VALUE>`,
      },
      {
        text: 'Where the project itself sets it without the plus sign: its code and the configuration, or Hydra, are of different releases.',
        command: 'python -m pip show hydra-core omegaconf',
      },
    ],
  },
  {
    pattern: /Key '([^'\n]{1,80})' (?:is )?not in '(\w{1,80})'/,
    remedies: ([, key, node]) => [
      {
        text: `This version of Hydra or of the program has no ${key} in ${node}: install the version that the project was written for, or leave ${key} out.`,
        command: 'python -m pip show hydra-core omegaconf',
      },
    ],
  },
  {
    pattern: /Interpolation key '([^'\n]{1,120})' not found|Environment variable '(\w{1,80})' not found|Missing mandatory value: ([\w.]{1,120})/,
    remedies: ([, key, variable, value]) => [
      variable === undefined
        ? { text: `Give ${key ?? value} a value in the configuration or on the command line.`, command: `python <SCRIPT> ${key ?? value}=<VALUE>` }
        : { text: `Set ${variable} where the job runs: the configuration reads it.`, command: `export ${variable}=<VALUE>` },
    ],
  },
  {
    pattern: /^You must specify '([\w/@]{1,80})', e\.g/,
    remedies: ([, group]) => [{ text: `Choose one of the options of ${group} that the message lists.`, command: `python <SCRIPT> ${group}=<OPTION>` }],
  },
]
