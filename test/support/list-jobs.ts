import { pino } from 'pino'
import type { TrainingJob } from '../../crds/generated.ts'
import { apiVersion } from '../../crds/names.ts'
import { KubeClient } from '../../lib/kube/client.ts'
import { Reflector } from '../../lib/kube/reflector.ts'
import { jobListing } from '../../operator/training-job/compact.ts'

// Lists the TrainingJobs of a server as the operator does, and prints their number and the memory that this took.

const [server = ''] = process.argv.slice(2)
const client = new KubeClient({ server, authenticate: async () => {} }, { userAgent: 'test' })
const log = pino({ level: 'silent' })
const jobs = new Reflector<TrainingJob>({
  client,
  kind: 'TrainingJob',
  apiVersion,
  path: '/jobs',
  log,
  onChange: () => {},
  ...jobListing,
})
jobs.start()
await jobs.synced
const { maxRSS } = process.resourceUsage()
process.stdout.write(JSON.stringify({ jobs: jobs.list().length, maxMebibytes: Math.round(maxRSS / 1024) }))
process.exit()
