// Messages of simulators of molecules (LAMMPS, GROMACS, NAMD, OpenMM) with one reason each.
import type { Known } from './message.ts'
import { ofRows, type Row } from './rows.ts'

const SMALLER_STEP =
  'Minimise and equilibrate the structure before this run, and use a shorter time step. If it ran well for long, go on from a checkpoint before the failure with the shorter step.'
const APART = 'Atoms moved too far in one step: the simulation became unstable.'

const ROWS: readonly Row[] = [
  [
    /\bLost atoms: original \d+ current \d+/,
    `${SMALLER_STEP} Where atoms may leave the box (fixed boundaries), tell LAMMPS so: thermo_modify lost warn.`,
    undefined,
    `${APART} LAMMPS stops when atoms are outside of the box.`,
    'The simulation became unstable: LAMMPS lost atoms',
  ],
  [
    /^reading tpx file \([^\n]{1,300}\) version \d{1,4}\s+with version \d{1,4} program/,
    'Run it with the version of GROMACS that wrote the .tpr file, or write the file again with this version: gmx grompp.',
    'gmx --version | grep -i version',
    'Another version of GROMACS wrote the .tpr file, in a format that this one does not read.',
    'This GROMACS cannot read the .tpr file',
  ],
  [
    /^Too many warnings \(\d{1,4}\)/,
    'Read each WARNING above this line, and correct what it names. Only where all of them are meant so, let grompp pass them: -maxwarn <NUMBER>.',
    undefined,
    undefined,
    'grompp stopped at its warnings',
  ],
  [
    /\bran out of space on \w{3,40}/,
    'Use a newer LAMMPS, and raise safezone and mincap of pair_style reaxff: its arrays are sized at the start, and a structure that changes much outgrows them.',
    undefined,
    undefined,
    'ReaxFF ran out of space in its arrays',
  ],
  [
    /Out of range atoms - cannot compute PPPM|Non-numeric (?:pressure|box dimensions|atom coords)|Bond atoms? [\d ]{1,60}missing|Shake (?:determinant|atoms)/,
    SMALLER_STEP,
    undefined,
    APART,
    'The simulation became unstable',
  ],
  [
    /interactions could not be calculated because some atoms involved moved further apart|Too many LINCS warnings|can ?not be settled/,
    SMALLER_STEP,
    undefined,
    APART,
    'The simulation became unstable',
  ],
  [
    /Atoms moving too fast; simulation has become unstable|Constraint failure(?:;| in RATTLE)/,
    SMALLER_STEP,
    undefined,
    APART,
    'The simulation became unstable',
  ],
  [
    /(?:Particle (?:coordinate|position)|Energy) is nan/i,
    'Minimise the structure first, and use a shorter time step. Also compare the periodic box with that of the structure, and look for constraints that contradict each other.',
    undefined,
    'The simulation blew up: positions are not numbers any more.',
    'The simulation became unstable',
  ],
  [
    /^Missing output file\(s\) `/,
    "Read .command.err and .command.log in the work folder of that process: its command ended without an error and wrote no such file. Where that may be, declare it so: output: path('<NAME>', optional: true).",
    'ls -la <WORK_DIR> && cat <WORK_DIR>/.command.err',
    'A process of Nextflow ended without a file that it declares as its output.',
    'A process did not write its output',
  ],
  [
    /Your shell has not been properly configured to use|^Run 'conda init' before/m,
    'Load its functions in the script itself, before the environment is activated: a batch job does not read what conda init has written.',
    'source "$(conda info --base)/etc/profile.d/conda.sh" && conda activate <ENVIRONMENT>',
    'The script goes on in the environment that it had before.',
    'conda activate does not work in this shell',
  ],
]
export const SIMULATIONS: readonly Known[] = ofRows(ROWS)
