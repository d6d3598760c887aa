// What is on /metrics beside the agent's own names.
import { choice, choices, text } from '../field.ts'

export const metrics = {
  description: "Names of dcgm-exporter beside Warpwatch's own, so that existing dashboards and rules go on working.",
  fields: {
    dcgm: choice(['classic', '4.9', 'both', 'off'], {
      default: 'classic',
      description: 'classic: names and labels up to dcgm-exporter 4.8. "4.9": those from 4.9 on.',
    }),
    hostname_label: choice(['Hostname', 'hostname', 'both'], {
      default: 'Hostname',
      description: 'Label of the host on the dcgm series (dcgm-exporter changed it from Hostname to hostname).',
    }),
    dcgm_holders: choice(['auto', 'shared', 'off'], {
      default: 'auto',
      description:
        'Whether the dcgm series carry pod, namespace, container and hpc_job of who holds the GPU. shared: one series for each pod on a GPU, as under KUBERNETES_VIRTUAL_GPUS.',
    }),
    dcgm_identity_labels: choices(['serial', 'name', 'vbios_version', 'minor_number'], {
      default: [],
      description: 'Extra labels of the dcgm series, as label rows in the CSV of dcgm-exporter add them: DCGM_FI_DEV_SERIAL and so on.',
    }),
    hpc_job_mapping_dir: text({
      default: '',
      description:
        'Folder in which a prolog writes the jobs of each GPU for dcgm-exporter (--hpc-job-mapping-dir); empty = the Slurm job of the processes on the GPU.',
    }),
  },
}
