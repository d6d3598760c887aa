// Modules that pip must not fetch: folders of the project itself, and extensions that it compiles from a folder of its own.
import type { Piece } from '../faults/remedies/plan.ts'

/** Names of a project's own folders. On PyPI they belong to others, or to nobody. */
const FOLDERS =
  /^(?:utils?|models?|src|tools?|data(?:set|loader|sets_\w+)?|libs?|core|configs?|common|modules?|networks?|train(?:er|ing)?|scene|scripts|pipelines?|nets?|helpers?|engine|layers|losses|opts?|options|arguments|gaussian_renderer|ldm|sgm|library|my_\w+|custom_\w+|app|api|cfg|evaluation|inference|extensions|third_party|dnnlib|torch_utils|legacy|op|criteria|agents?|envs|policy|render(?:er)?)$/
/** By module: where its source lies, mostly. */
const BUILT: readonly (readonly [module: RegExp, folder: string])[] = [
  [/^(?:diff_(?:gauss|surfel)\w*|simple_knn|fused_ssim|gaussian_rasterizer)$/, 'submodules/'],
  [/^(?:MultiScaleDeformableAttention|pointnet2\w*|pointops\w*|_ext|deform_conv\w*|dcn_v2|iou3d_nms\w*|roiaware_pool3d\w*|bev_pool\w*)$/, 'ops/'],
  [/^_?(?:gridencoder|raymarching|freqencoder|shencoder|ffmlp|curope|nvdiffrec_render|nms_1d\w*)$/, ''],
]

/** What to do about a module that is the project's own; undefined where it is a package. */
export function localModule(top: string): readonly Piece[] | undefined {
  const built = BUILT.find(([module]) => module.test(top))
  if (built !== undefined) {
    const folder =
      built[1] === 'submodules/' ? `submodules/${top.replace(/^(diff|simple|fused)_/, (word) => word.replace('_', '-')).replaceAll('_', '-')}` : '<FOLDER>'
    return [
      {
        text: `${top} is an extension that the project compiles: build it from its folder${folder === '<FOLDER>' ? ' (the README or an install script names it)' : ''}; pip has no such package. The CUDA toolkit must be the one of PyTorch.`,
        command: `git submodule update --init --recursive; python -m pip install --no-build-isolation ./${folder}`,
      },
    ]
  }
  return FOLDERS.test(top)
    ? [
        {
          text: `${top} is a folder of the project itself, not a package: start the program in the main folder of the project, or name that folder. Do not install it with pip, where the name belongs to another program.`,
          command: 'cd <PROJECT> && export PYTHONPATH="$PWD"',
        },
        { text: `If there is no folder ${top}: a git submodule or a part of the download is missing.`, command: 'git submodule update --init --recursive' },
      ]
    : undefined
}
