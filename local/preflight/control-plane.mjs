import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { canBuild } from './errors.mjs'
import { findExecutable, observeGo } from './programs.mjs'
import { digestModules, programs, releaseOrigins } from './requirements.mjs'

/** As long as a download waits for a host. */
const timeoutMs = 5_000

/**
 * Which programs of the control plane are not on this machine, and the ways to get them. Hosts are only asked where
 * there is no Go that could build the programs.
 */
export async function observeControlPlane({ repository, cache, env }) {
  const missing = listMissing({ repository, cache, env })
  if (missing.length === 0) return { missing, go: undefined, unreachableOrigins: [] }
  const go = observeGo()
  return { missing, go, unreachableOrigins: go && canBuild(go) ? [] : await listUnreachableOrigins(missing, env) }
}

function listMissing({ repository, cache, env }) {
  const assets = env.KUBEBUILDER_ASSETS ? [env.KUBEBUILDER_ASSETS] : []
  const searchPath = (env.PATH ?? '').split(path.delimiter).filter(Boolean)
  const cached = findBinFolder(repository, cache)
  return programs.filter((program) => {
    if (cached && existsSync(path.join(cached, `${program}.complete`))) return false
    return !findExecutable(program, program === 'kubectl' ? [...assets, ...searchPath] : assets)
  })
}

/** The folder of programs that were built from the modules of this repository. */
function findBinFolder(repository, cache) {
  const read = (name) => readFileSync(path.join(repository, 'local', 'go', name), 'utf8')
  const digest = digestModules(read('go.mod'), read('go.sum'))
  const folder = path.join(cache, 'bin')
  const name = existsSync(folder) && readdirSync(folder).find((each) => each.endsWith(`${digest}-${process.arch}`))
  return name ? path.join(folder, name) : undefined
}

async function listUnreachableOrigins(missing, env) {
  // The installer's Node goes through a proxy then, and this one may not be able to.
  if (env.NODE_USE_ENV_PROXY) return []
  const needed = new Set(missing.map((program) => releaseOrigins[program] ?? releaseOrigins.kubernetes))
  const asked = await Promise.all([...needed].map(async (origin) => ({ origin, answers: await answers(origin) })))
  return asked.filter((each) => !each.answers).map(({ origin }) => origin)
}

function answers(origin) {
  return fetch(origin, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) }).then(
    () => true,
    () => false,
  )
}
