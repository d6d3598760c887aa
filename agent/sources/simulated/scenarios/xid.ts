// The driver reports errors: a program's illegal access, then one contained memory error.
import { everyCycle, type Scenario } from '../scenario.ts'

export const xid: Scenario = {
  name: 'xid',
  shows:
    'at 45 s Xid 31 on GPU 6 ends finetune-lora (an illegal access of its own); at 120 s Xid 63 on GPU 2 (a row is remapped, the job goes on); again every 4 min',
  begin: (stage) =>
    everyCycle(240, (second) => {
      if (second === 45) {
        const card = stage.card(6)
        const process = stage.processesOf('finetune-lora')[0]
        const text =
          'Ch 0000002a, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC3 GPCCLIENT_T1_4 faulted @ 0x7e41_9a200000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_WRITE'
        stage.xid(card, 31, text, process)
        if (process !== undefined) stage.crash(process, 'an illegal memory access was encountered')
      } else if (second === 120) {
        stage.xid(stage.card(2), 63, 'Row Remapper: New row (0x00000000012ab340) marked for remapping, reset gpu to activate.')
      }
    }),
}
