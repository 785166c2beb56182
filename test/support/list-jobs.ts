import { pino } from 'pino'
import { KubeClient } from '../../lib/kube/client.ts'
import { Watches } from '../../operator/watches.ts'

// Lists the TrainingJobs of a server as the operator does, and prints their number and the memory that this took.

const [server = ''] = process.argv.slice(2)
const client = new KubeClient({ server, authenticate: async () => {} }, { userAgent: 'test' })
const { trainingJobs } = new Watches({ client, namespace: 'test', log: pino({ level: 'silent' }) })
trainingJobs.start()
await trainingJobs.synced
const { maxRSS } = process.resourceUsage()
process.stdout.write(JSON.stringify({ jobs: trainingJobs.list().length, maxMebibytes: Math.round(maxRSS / 1024) }))
process.exit()
