// What public dashboards and tools ask of dcgm-exporter, in the shape in which they ask it: names, labels, grouping. docs/dcgm-exporter.md lists it with the outcome,
// and test/integration/dcgm-dashboards.all.parallel.test.ts asks a real Prometheus. Variables have values of the simulated hosts in their place.

/** How the host is scraped: target labels that collide with the series' own make them `exported_…`, unless `honor_labels` is set. */
export type Scraped = 'kubernetes' | 'kubernetes, honor_labels' | 'slurm'
export type Asked = {
  readonly by: string
  readonly url: string
  readonly scraped: Scraped
  readonly queries: readonly string[]
  /** Those that this host cannot answer, by why. */
  readonly without?: Readonly<Record<string, readonly string[]>>
}

const ALL = '{instance=~".+", gpu=~"[0-7]"}'
const HOST = '{Hostname=~".+", gpu=~"[0-7]"}'
const CARD = '{UUID=~"GPU-.+"}'
const PODS = '{exported_namespace!="", exported_container!="", exported_pod!=""}'
const OF_ONE = '{exported_namespace="training", exported_container="trainer"}'
const CARD_AND_POD = 'Hostname, device, modelName, UUID, exported_container, exported_namespace'
const KUBE = 'asks kube-state-metrics too, which no GPU exporter is'

export const DASHBOARDS: readonly Asked[] = [
  {
    by: 'NVIDIA DCGM Exporter Dashboard, 12239',
    url: 'https://grafana.com/grafana/dashboards/12239',
    scraped: 'kubernetes',
    queries: [
      'count by (instance) (DCGM_FI_DEV_GPU_TEMP)',
      'count by (gpu) (DCGM_FI_DEV_GPU_TEMP)',
      `DCGM_FI_DEV_GPU_TEMP${ALL}`,
      `avg(DCGM_FI_DEV_GPU_TEMP${ALL})`,
      `DCGM_FI_DEV_POWER_USAGE${ALL}`,
      `sum(DCGM_FI_DEV_POWER_USAGE${ALL})`,
      `DCGM_FI_DEV_SM_CLOCK${ALL} * 1000000`,
      `DCGM_FI_DEV_GPU_UTIL${ALL}`,
      `DCGM_FI_DEV_FB_USED${ALL}`,
      `DCGM_FI_PROF_PIPE_TENSOR_ACTIVE${ALL}`,
    ],
  },
  {
    by: 'AWS, awsome-distributed-training (EKS and Slurm)',
    url: 'https://github.com/aws-samples/awsome-distributed-training',
    scraped: 'slurm',
    queries: [
      `DCGM_FI_DEV_GPU_TEMP${HOST}`,
      `avg(DCGM_FI_DEV_GPU_TEMP${HOST})`,
      `DCGM_FI_DEV_POWER_USAGE${HOST}`,
      `sum(DCGM_FI_DEV_POWER_USAGE${HOST})`,
      `DCGM_FI_DEV_SM_CLOCK${HOST} * 1000000`,
      `DCGM_FI_DEV_GPU_UTIL${HOST}`,
      `DCGM_FI_DEV_FB_USED${HOST}`,
      `DCGM_FI_PROF_PIPE_TENSOR_ACTIVE${HOST}`,
    ],
  },
  {
    by: 'Kubernetes GPU resources, by cluster and by namespace (heumsi/grafana-dashboards)',
    url: 'https://github.com/heumsi/grafana-dashboards',
    scraped: 'kubernetes',
    queries: [
      'count(DCGM_FI_DEV_GPU_UTIL > 0)',
      'sum(DCGM_FI_DEV_GPU_UTIL > 0) / 100',
      'count by (exported_namespace) (DCGM_FI_DEV_GPU_UTIL{exported_namespace!=""} > 0)',
      'sum by (exported_namespace) (DCGM_FI_DEV_GPU_UTIL{exported_namespace!=""} > 0) / 100',
      'count by (exported_pod) (DCGM_FI_DEV_GPU_UTIL{exported_namespace!=""} > 0)',
      'sum by (exported_pod) (DCGM_FI_DEV_GPU_UTIL{exported_namespace!=""} > 0) / 100',
      'count(DCGM_FI_DEV_GPU_UTIL{exported_namespace="training"} > 0)',
      'sum(DCGM_FI_DEV_GPU_UTIL{exported_namespace="training"} > 0) / 100',
      'count by (exported_pod) (DCGM_FI_DEV_GPU_UTIL{exported_namespace="training"} > 0)',
      'sum by (exported_pod) (DCGM_FI_DEV_GPU_UTIL{exported_namespace="training"} > 0) / 100',
      'count by (container) (DCGM_FI_DEV_GPU_UTIL{exported_namespace="training"} > 0)',
      'sum by (container) (DCGM_FI_DEV_GPU_UTIL{exported_namespace="training"} > 0) / 100',
      'sum(count by (node) (count by (node) (DCGM_FI_DEV_GPU_UTIL > 0)))',
    ],
    without: {
      [KUBE]: [
        'count(DCGM_FI_DEV_GPU_UTIL > 0) / sum(kube_node_status_allocatable{resource="nvidia_com_gpu"}) * 100',
        'sum((DCGM_FI_DEV_GPU_UTIL > 0) / 100) / sum(kube_node_status_allocatable{resource="nvidia_com_gpu"}) * 100',
        'sum(count by (node) (DCGM_FI_DEV_GPU_UTIL > 0)) / sum(count by (node) (kube_node_status_capacity{resource="nvidia_com_gpu"})) * 100',
      ],
    },
  },
  {
    by: "OpenShift's console plugin for NVIDIA GPUs (rh-ecosystem-edge/console-plugin-nvidia-gpu)",
    url: 'https://github.com/rh-ecosystem-edge/console-plugin-nvidia-gpu',
    scraped: 'kubernetes',
    queries: [
      'count(count by (UUID, GPU_I_ID) (DCGM_FI_PROF_GR_ENGINE_ACTIVE))',
      'count(count by (UUID, GPU_I_ID) (DCGM_FI_PROF_GR_ENGINE_ACTIVE{exported_pod=~".+"}))',
      'count(count by (UUID, GPU_I_ID) (DCGM_FI_DEV_MEM_COPY_UTIL))',
      'sum(max by (UUID) (DCGM_FI_DEV_POWER_USAGE))',
      'sum by (exported_namespace, exported_pod, UUID) (DCGM_FI_PROF_GR_ENGINE_ACTIVE{exported_pod=~".+"})',
      'sum(DCGM_FI_DEV_ENC_UTIL) / count(DCGM_FI_DEV_ENC_UTIL)',
      'sum(DCGM_FI_DEV_DEC_UTIL) / count(DCGM_FI_DEV_ENC_UTIL)',
      `avg(DCGM_FI_DEV_GPU_TEMP${CARD})`,
      `avg(DCGM_FI_DEV_POWER_USAGE${CARD})`,
      `DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX${CARD}`,
      `avg(DCGM_FI_DEV_SM_CLOCK${CARD})`,
      `DCGM_FI_DEV_MAX_SM_CLOCK${CARD}`,
      `DCGM_FI_DEV_MEM_CLOCK${CARD}`,
      `DCGM_FI_DEV_MAX_MEM_CLOCK${CARD}`,
      `sum(DCGM_FI_PROF_GR_ENGINE_ACTIVE${CARD})`,
      `sum(DCGM_FI_DEV_MEM_COPY_UTIL${CARD})`,
      `sum(DCGM_FI_DEV_ENC_UTIL${CARD})`,
      `sum(DCGM_FI_DEV_DEC_UTIL${CARD})`,
    ],
    without: {
      [KUBE]: [
        'count((kube_pod_status_phase > 0) * on (pod) group_left (gpu) label_replace(DCGM_FI_PROF_GR_ENGINE_ACTIVE{exported_pod=~".+", exported_namespace="training"}, "pod", "$1", "exported_pod", "(.*)"))',
      ],
    },
  },
  {
    by: 'Kruize and the Koku metrics operator (resource optimization of OpenShift)',
    url: 'https://github.com/project-koku/koku-metrics-operator',
    scraped: 'kubernetes',
    queries: ['min', 'max', 'avg'].flatMap((of) => [
      `${of} by (modelName, GPU_I_PROFILE, exported_container, exported_namespace, exported_pod, Hostname) (${of}_over_time(DCGM_FI_DEV_FB_USED${PODS}[15m]))`,
      `${of} by (${CARD_AND_POD}) (${of}_over_time(DCGM_FI_DEV_GPU_UTIL${OF_ONE}[15m]))`,
      `${of} by (${CARD_AND_POD}) (${of}_over_time(DCGM_FI_DEV_MEM_COPY_UTIL${OF_ONE}[15m]))`,
    ]),
    without: {
      [KUBE]: [
        `min by (exported_pod, exported_namespace) (DCGM_FI_DEV_FB_USED${PODS}) * on (exported_namespace) group_left (namespace) label_replace(kube_namespace_labels, "exported_namespace", "$1", "namespace", "(.+)")`,
      ],
    },
  },
  {
    by: 'gpu-pruner, which ends idle workloads (wseaton/gpu-pruner)',
    url: 'https://github.com/wseaton/gpu-pruner',
    scraped: 'kubernetes, honor_labels',
    queries: [
      'max by (Hostname, container, namespace, pod, modelName) (max_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE{pod!="", namespace=~".+"}[30m]))',
      'max by (Hostname, container, namespace, pod, modelName) (max_over_time(DCGM_FI_DEV_GPU_UTIL{pod!="", namespace=~".+"}[30m])) / 100',
      'max by (Hostname, container, namespace, pod, modelName) (max_over_time(DCGM_FI_DEV_POWER_USAGE{pod!="", namespace=~".+"}[30m]))',
    ],
  },
  {
    by: 'Slurm node dashboard (thediymaker/slurm-node-dashboard)',
    url: 'https://github.com/thediymaker/slurm-node-dashboard',
    scraped: 'slurm',
    queries: [
      'DCGM_FI_DEV_GPU_UTIL{hpc_job!="0", hpc_job!=""}',
      'DCGM_FI_DEV_FB_USED{hpc_job!="0", hpc_job!=""}',
      'DCGM_FI_DEV_FB_FREE{hpc_job!="0", hpc_job!=""}',
      'DCGM_FI_DEV_GPU_UTIL{hpc_job="48213"}',
      'last_over_time(DCGM_FI_DEV_GPU_UTIL{hpc_job="48213"}[120s])',
    ],
  },
  {
    by: 'Dashboards of pbs_exporter: by job, by node (0nebody/pbs_exporter)',
    url: 'https://github.com/0nebody/pbs_exporter',
    scraped: 'slurm',
    queries: [
      'DCGM_FI_DEV_GPU_UTIL{instance=~".+", hpc_job=~"^48213.*"}',
      'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{instance=~".+", hpc_job=~"^48213.*"}',
      'DCGM_FI_DEV_FB_USED{instance=~".+", hpc_job=~"^48213.*"}',
      'DCGM_FI_DEV_POWER_USAGE{instance=~".+", hpc_job=~"^48213.*"}',
      'count(DCGM_FI_DEV_GPU_UTIL{Hostname=~".+", hpc_job!=""})',
      'avg(DCGM_FI_DEV_GPU_UTIL{Hostname=~".+", hpc_job!=""}) / 100',
      'sum(DCGM_FI_DEV_FB_USED{Hostname=~".+", hpc_job!=""}) / sum(DCGM_FI_DEV_FB_USED{Hostname=~".+", hpc_job!=""} + DCGM_FI_DEV_FB_FREE{Hostname=~".+", hpc_job!=""})',
    ],
    without: {
      'asks pbs_exporter too, which knows the users of jobs': [
        'avg(label_replace(DCGM_FI_DEV_GPU_UTIL{hpc_job=~"^48213.*"}, "jobid", "$1", "hpc_job", "([^.]+).*") and on (jobid, instance) pbs_job_info{username="ana"}) / 100',
      ],
    },
  },
  {
    by: 'Fields that platforms add to the CSV (Datadog, SageMaker HyperPod, DeepOps)',
    url: 'https://docs.datadoghq.com/integrations/dcgm',
    scraped: 'slurm',
    queries: [
      'DCGM_FI_DEV_MAX_SM_CLOCK - DCGM_FI_DEV_SM_CLOCK',
      'DCGM_FI_DEV_MAX_MEM_CLOCK',
      'DCGM_FI_DEV_POWER_USAGE / DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX',
      'DCGM_FI_DEV_POWER_MGMT_LIMIT_MIN',
      'DCGM_FI_DEV_SLOWDOWN_TEMP - DCGM_FI_DEV_GPU_TEMP',
      'DCGM_FI_DEV_SHUTDOWN_TEMP - DCGM_FI_DEV_GPU_TEMP',
      'DCGM_FI_DEV_BAR1_USED / DCGM_FI_DEV_BAR1_TOTAL',
      'DCGM_FI_DEV_BAR1_FREE',
      'DCGM_FI_DEV_COMPUTE_MODE',
      'DCGM_FI_DEV_PERSISTENCE_MODE',
      'avg(DCGM_FI_DEV_FB_USED_PERCENT) * 100',
      'max(DCGM_FI_DEV_COUNT)',
      'sum by (gpu) (DCGM_FI_PROF_NVLINK_TX_BYTES + DCGM_FI_PROF_NVLINK_RX_BYTES)',
      'sum by (gpu) (DCGM_EXP_XID_ERRORS_COUNT)',
      'count by (DCGM_FI_DEV_SERIAL, DCGM_FI_DEV_NAME, DCGM_FI_DEV_VBIOS_VERSION, DCGM_FI_DEV_MINOR_NUMBER) (DCGM_FI_DEV_GPU_TEMP{DCGM_FI_DEV_SERIAL!=""})',
    ],
    without: {
      'NVML reports no such limit, or the agent does not read it': ['DCGM_FI_DEV_GPU_MAX_OP_TEMP', 'DCGM_FI_DEV_MEM_MAX_OP_TEMP'],
      'licences of virtual GPUs are none of a bare host': ['DCGM_FI_DEV_VGPU_LICENSE_STATUS'],
    },
  },
]
