// Label names of GPU series, in the order in which they are written.
export const GPU_LABELS = ['gpu', 'uuid'] as const
/** Also for MIG instances, whose `uuid` is that of the GPU they are part of. */
export const MIG_LABELS = ['gpu', 'uuid', 'gi', 'ci'] as const
