// kubectl on the pod of the text, in its namespace where that is known.
import type { Situation } from '../../situation/situation.ts'
import type { Advice } from './plan.ts'

type Named = Pick<Situation['subject'], 'pod' | 'namespace'>
/** `trainer-0 -n ml`: what names a pod to kubectl. */
export const podArguments = ({ pod, namespace }: Named): string => `${pod ?? '<POD>'}${namespace === undefined ? '' : ` -n ${namespace}`}`

type Pod = Pick<Situation, 'subject' | 'text'>
/** The text is what `kubectl describe pod` printed: it would say the same again. */
export const isDescribed = ({ text }: Pick<Situation, 'text'>): boolean => /^\s{0,8}Last State:\s{1,20}Terminated\b/m.test(text)
const events = (pod: Pod): string =>
  isDescribed(pod) && pod.subject.pod !== undefined
    ? `kubectl get events --field-selector involvedObject.name=${podArguments(pod.subject)}`
    : `kubectl describe pod ${podArguments(pod.subject)}`
export const podEvents = (pod: Pod): Advice => ({ text: 'See the events of the pod.', command: events(pod) })
export const podEnded = (pod: Pod): Advice => ({ text: 'See why Kubernetes ended the pod.', command: events(pod) })
/** A text that shows only the state of a pod has none of its own words. */
export const podLastWords = ({ subject }: Pick<Situation, 'subject'>): Advice => ({
  text: 'Read what the container said before it ended.',
  command: `kubectl logs ${podArguments(subject)} --previous --tail=100`,
})
/** `kubectl describe` or `kubectl get pods`. */
export const isPodState = ({ text, programs }: Pick<Situation, 'text' | 'programs'>): boolean =>
  programs.has('kubernetes') && (isDescribed({ text }) || /\bCrashLoopBackOff\b/.test(text))
