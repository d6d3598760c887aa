// Scenes from photographs (3D Gaussian splatting, NeRF): what they hold is photographs and Gaussians, not batches of sequences.
import type { Situation } from '../../../situation/situation.ts'
import type { Piece } from '../../remedies/plan.ts'

const NERFSTUDIO = /\bnerfstudio\b|\bns-train\b|\bsplatfacto/i
/** While it reads the photographs. */
const READS_IMAGES =
  /\bin (?:loadCam|cameraList_from_camInfos)\b|^Loading Training Cameras\b(?![^]*(?:Training progress|Number of points at initiali[sz]ation))/m

/** README of graphdeco-inria/gaussian-splatting (command line arguments, FAQ); docs.nerf.studio. */
export function lessInSplatting({ text }: Situation): readonly Piece[] {
  const small: Piece = NERFSTUDIO.test(text)
    ? { text: 'Train on smaller photographs: nerfstudio-data --downscale-factor 4 at the end of the command.' }
    : { text: 'Train on smaller photographs: a half or a quarter of their size.', command: '--resolution 4' }
  const onHost: Piece = NERFSTUDIO.test(text)
    ? { text: 'Keep the photographs in host memory (splatfacto).', command: '--pipeline.datamanager.cache-images cpu' }
    : !/--data_device[ =]cpu/.test(text) && { text: 'Keep the photographs in host memory.', command: '--data_device cpu' }
  const fewer: Piece = NERFSTUDIO.test(text)
    ? { text: 'Take fewer rays for each step (nerfacto and its relatives).', command: '--pipeline.datamanager.train-num-rays-per-batch 2048' }
    : {
        text: 'Let it make fewer Gaussians: a higher threshold for new ones, and an earlier end.',
        command: '--densify_grad_threshold 0.0004 --densify_until_iter 10000',
      }
  return READS_IMAGES.test(text) ? [onHost, small, { text: 'Or leave photographs out: each is kept in memory as a whole.' }] : [small, fewer, onHost]
}
