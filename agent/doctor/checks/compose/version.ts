// Does a compose file name the version of a format that is gone?
import { defineCheck } from '../../definition.ts'
import { NO_FILE, noService } from '../../compose/look.ts'
import { subjectOf } from '../../compose/part.ts'
import { composeProject } from '../../compose/project.ts'

export const composeVersion = defineCheck({
  id: 'compose-version',
  group: 'compose',
  title: 'no compose file names a version, which Compose ignores',
  covers: [],
  async run(around) {
    const project = await composeProject(around)
    if (project === undefined) return [{ status: 'skipped', summary: NO_FILE }]
    if (project.services.length === 0) return [{ status: 'skipped', summary: noService(project) }]
    if (project.versions.length === 0) return [{ status: 'pass', summary: 'none names a version' }]
    return project.versions.map((place) => ({
      status: 'warn',
      subject: subjectOf(place),
      // Compose 1 (docker-compose, without maintenance since 2023) chose its rules by it, and had no GPU reservations below 1.28.
      summary: '`version:` is obsolete: Compose 2 ignores it and complains at each start; only docker-compose 1 went by it',
      remedies: [
        {
          text: `Take line ${place.line} out of ${place.file}. Where "docker compose version" is no command, install Compose 2: the package docker-compose-plugin.`,
        },
      ],
    }))
  },
})
