// The system refuses access to a file, a folder or a device.
import { WEIGHT, anyOf, pathIn, raises, saying, says, type EndKind, type EndContext } from '../end-kind.ts'

/** A service answered so, not the system. */
const ofService = ({ error, facts }: EndContext): boolean =>
  facts.path === undefined &&
  facts.errno === undefined &&
  /n.t? have (?:the )?permissions? to\b|wandb|W&B|\bAPI\b|[Bb]ackend: permission|Response \[403\]|\b40[13]\b|\bAccessDenied\b|not authorized/.test(
    error?.message ?? '',
  )

export const permissionDenied: EndKind = {
  kind: 'permission_denied',
  stage: 'cause',
  severity: 'critical',
  claims: anyOf(
    says(
      /[Pp]ermission denied|Operation not permitted|Read-only file system|Access is denied|\bEACCES\b|\bEPERM\b|\bEROFS\b|An error occurred \((?:403|AccessDenied)\)/,
      WEIGHT.errno,
      (match) => {
        const path = pathIn(match.input) ?? /^(?:execve\(\): )?(?![A-Z_]+:)([^\s:]{1,300}): Permission denied/m.exec(match.input)?.[1]
        return path === undefined ? {} : { path }
      },
    ),
    // Of a service, not a file.
    says(/(?:do|does)(?: not|n't) have (?:the )?permissions? to\b/, WEIGHT.exception + 0.5),
    raises(/^(?:PermissionError|AccessDeniedException|AccessDenied|Forbidden|PermissionDenied|Unauthorized)$/, WEIGHT.errno),
  ),
  title: ({ facts: { path } }) => `Access denied${path === undefined ? '' : `: ${path}`}`,
  verdict: (context) =>
    saying(
      context,
      `may not ${context.facts.errno === 30 ? 'write to' : 'access'} ${context.facts.path ?? (ofService(context) ? 'what it asked a service for' : 'a file that it needs')}`,
    ),
  remedies: (context) => {
    const {
      facts: { path, errno },
      situation,
    } = context
    if (ofService(context))
      return [
        { text: 'See with which account or key the job is logged in there, and whether that one belongs to the project it writes to.' },
        { text: 'Correct the name of the project or owner: an account that is not a member gets the same answer.' },
      ]
    const shown = path !== undefined && /^[\w@%+=:,./~-]+$/.test(path) ? path : undefined
    return [
      {
        text: 'See who owns it and which rights each folder on the way to it has, and as whom the job runs.',
        command: shown === undefined ? 'id; ls -ld .' : `id; namei -l ${shown}`,
      },
      errno === 30
        ? {
            text: 'The file system is mounted read-only: write elsewhere, or mount it writable. If it was writable before, look for disk errors in the kernel log.',
            command: 'mount | grep -w ro; sudo dmesg -T | tail',
          }
        : { text: 'Give the user of the job the right, or let the job write to a folder of its own.' },
      (situation.programs.has('docker') || situation.programs.has('kubernetes')) && {
        text: 'In a container: run it as the user that owns the mounted folder (docker run --user, securityContext.runAsUser).',
      },
      shown?.endsWith('.sh') === true && { text: 'A script needs the right to be executed.', command: `chmod +x ${shown}` },
    ]
  },
}
