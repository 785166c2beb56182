import { existsSync } from 'node:fs'
import path from 'node:path'
import { readLocalConfig } from '../../../local/config.ts'
import { runChild } from '../../../local/install/run-child.ts'
import { install } from '../../../local/install/install.ts'
import { Board } from '../../../local/terminal/board.ts'
import { findLaunchOptions } from '../chromium.ts'
import type { Outcome } from '../reports.ts'
import { installS3Server } from '../s3-server.ts'
import { runPytest, runVitest, type Suite, type SuiteContext } from '../suites.ts'

/**
 * Folders and files of each project whose tests depend on what machines differ in: programs in the search path, ports, the time
 * zone and the locale, modes of new files, names of folders, addresses, and proxies. `python` is that of the trainer.
 */
const fileGroups: Readonly<Record<string, readonly string[]>> = {
  unit: ['apiserver/', 'console/', 'lib/', 'local/', 'operator/'],
  db: [
    'test/db/garbage.test.ts',
    'test/db/job-life-cycle.test.ts',
    'test/db/job-notifications.test.ts',
    'test/db/listen.test.ts',
    'test/db/tracing-retention.test.ts',
  ],
  api: [
    'test/api/artifacts.test.ts',
    'test/api/audit-log.test.ts',
    'test/api/data-sets.test.ts',
    'test/api/ingest.test.ts',
    'test/api/limits.test.ts',
    'test/api/spool.test.ts',
    'test/api/start-estimate.test.ts',
    'test/api/tracing-costs.test.ts',
    'test/api/tracing-digests.test.ts',
    'test/api/tracing-streams.test.ts',
    'test/api/usage.test.ts',
    'test/api/wandb-runs.test.ts',
    'test/api/webhook-secrets.test.ts',
  ],
  cluster: [
    'test/cluster/control-pods.test.ts',
    'test/cluster/database-connections.test.ts',
    'test/cluster/gateway.test.ts',
    'test/cluster/metrics.test.ts',
  ],
  browser: [
    'test/browser/calls.test.ts',
    'test/browser/live.test.ts',
    'test/browser/login.test.ts',
    'test/browser/places.test.ts',
    'test/browser/screens.test.ts',
    'test/browser/sessions.test.ts',
    'test/browser/states.test.ts',
    'test/browser/traces.test.ts',
    'test/browser/trajectories.test.ts',
  ],
  python: [
    'trainer/trainyard_artifacts/bucket_policies_test.py',
    'trainer/trainyard_artifacts/store_test.py',
    'trainer/trainyard_base_model/download_test.py',
    'trainer/trainyard_colocated/supervision_test.py',
    'trainer/trainyard_engine/engine_start_test.py',
    'trainer/trainyard_trainer/outside_names_test.py',
    'trainer/trainyard_trainer/reports/claims_test.py',
    'trainer/trainyard_trainer/reports/job_log_test.py',
    'trainer/trainyard_trainer/shared_volume_test.py',
    'trainer/trainyard_trainer/store_failures_test.py',
    'trainer/trainyard_trainer/worker_test.py',
  ],
}

const enter = [process.execPath, path.join(import.meta.dirname, 'enter.ts')]

/** Some tests of each project, on a machine that differs from that of CI. */
export const otherMachineSuites: readonly Suite[] = Object.entries(fileGroups).map(([project, files]) => ({
  name: `other-machine-${project}`,
  run: (suite) => runThere(suite, project, files),
}))

async function runThere(suite: SuiteContext, project: string, files: readonly string[]): Promise<Outcome> {
  const missing = files.filter((file) => !existsSync(file))
  if (missing.length > 0) throw new Error(`these tests are not there: ${missing.join(', ')}`)
  // Its network reaches nothing that could be installed from.
  const { signal } = new AbortController()
  const { python } = await install({ config: readLocalConfig(), board: new Board(), signal })
  await findLaunchOptions()
  const env = { TRAINYARD_TEST_S3_SERVER: await installS3Server() }
  const network = await findNetwork()
  const through = [...network.through, ...enter]
  const paths = files.map((file) => path.relative('trainer', file))
  const outcome = await (project === 'python'
    ? runPytest(suite, { python: python.python, env, paths, through })
    : runVitest(suite, { project, files: [...files], env, through }))
  return network.obstacle === undefined
    ? outcome
    : { ...outcome, skipped: [...outcome.skipped, `${suite.name} without IPv6: ${network.obstacle}`] }
}

const withoutIpv6 = 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 && ip link set lo up && exec "$@"'
const networks: Record<'root' | 'user', readonly string[]> = {
  root: ['unshare', '--net', 'sh', '-c', withoutIpv6, 'sh'],
  // Only its root may change a network. The second namespace gives the user their own number back.
  user: ['unshare', '--user', '--map-root-user', '--net', 'sh', '-c', withoutIpv6, 'sh'],
}

/** How to start a command on a machine without IPv6, or why that is impossible. */
interface Network {
  through: readonly string[]
  obstacle?: string
}

/** A network of its own without IPv6, which also reaches nothing outside. */
async function findNetwork(): Promise<Network> {
  const [uid, gid] = [process.getuid!(), process.getgid!()]
  const back = ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`]
  const through = uid === 0 ? networks.root : [...networks.user, ...back]
  const [program, ...args] = [...through, 'true']
  const tried = await runChild(program, args).catch((error: unknown) => ({ code: 1, tail: String(error) }))
  return tried.code === 0 ? { through } : { through: [], obstacle: `IPv6 stays: ${tried.tail}` }
}
