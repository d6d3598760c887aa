// Keys outside any section.
import { text } from '../field.ts'

export const general = {
  host_name: text({ default: '', description: 'Name of this host on metrics, in the dashboard and in recordings; empty = what the system says.' }),
  data_dir: text({
    default: '',
    description:
      'Directory of history, incidents and jobs; empty = $STATE_DIRECTORY (set by systemd), /var/lib/warpwatch for root, else ~/.local/state/warpwatch.',
  }),
}
