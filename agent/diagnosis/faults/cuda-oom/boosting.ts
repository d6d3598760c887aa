// Boosted trees that run out of GPU memory in words of their own: CatBoost.
import { bytesOf } from '../quantity.ts'
import { known } from '../parts/window.ts'
import { whoHolds } from '../remedies/gpu.ts'
import { memoryFamily } from './rules.ts'

/** catboost/cuda/cuda_lib/memory_pool: sizes in MiB. The same words follow in "what() ->". */
export const cudaOomBoosting = memoryFamily(
  'cuda-oom-boosting',
  ['NCudaLib::TOutOfMemoryError', 'Error: Out of memory. Requested '],
  [
    {
      pattern:
        /(?:NCudaLib::TOutOfMemoryError|stack_like_memory_pool\.h:\d{1,5})[^\n]{0,200}?Error: Out of memory\. Requested ([\d.]{1,16}) MB; Free ([\d.]{1,16}) ?MB/,
      who: 'CatBoost',
      facts: ([, asked, free]) => known({ requested_bytes: bytesOf(asked, 'MB'), free_bytes: bytesOf(free, 'MB') }),
      // catboost.ai/docs/concepts/faq, "overcome out of memory".
      remedies: (situation) => [
        { text: 'Combine fewer categorical features, and keep their values in host memory: max_ctr_complexity=1, gpu_cat_features_storage="CpuPinnedMemory".' },
        { text: 'Use fewer borders (border_count=32), a smaller depth, or the boosting_type "Plain"; or train on a part of the rows.' },
        { text: 'If nothing else runs on the GPU, let CatBoost use more of it: gpu_ram_part (0.95 where nothing is set).' },
        whoHolds(situation),
      ],
    },
  ],
)
