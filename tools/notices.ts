import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)
const file = path.join(root, 'THIRD-PARTY-NOTICES.md')

// Licences of dependencies that fit Apache-2.0. A person decides about any other licence.
const fitting =
  /^\(?(MIT|MIT-0|ISC|0BSD|BlueOak-1\.0\.0|Apache-2\.0|BSD-[23]-Clause|CC0-1\.0|Unlicense|Python-2\.0|PSF-2\.0|CC-BY-4\.0|MPL-2\.0)\b/

interface LockedPackage {
  version?: string
  license?: string
  dev?: boolean
  optional?: boolean
  devOptional?: boolean
}

/** The packages of package-lock.json by name and version, with their licences. */
function readPackages(): { name: string; version: string; license: string; use: string }[] {
  const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>
  }
  return Object.entries(lock.packages)
    .filter(([location]) => location !== '')
    .map(([location, locked]) => ({
      name: location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version: locked.version ?? '',
      license: locked.license ?? 'unknown',
      use: locked.dev === true || locked.devOptional === true ? 'development' : 'runtime',
    }))
    .toSorted((a, b) => (a.name === b.name ? a.version.localeCompare(b.version) : a.name < b.name ? -1 : 1))
}

function render(): string {
  const rows = readPackages().map(({ name, version, license, use }) => `| ${name} | ${version} | ${license} | ${use} |`)
  return `${readFileSync(path.join(import.meta.dirname, 'notices-head.md'), 'utf8')}\n${[...new Set(rows)].join('\n')}\n`
}

const unfitting = readPackages().filter(({ license }) => !fitting.test(license))
for (const { name, version, license } of unfitting)
  console.error(`${name} ${version}: licence ${license} is not on the list`)

if (process.argv.includes('--check')) {
  const fresh = readFileSync(file, 'utf8') === render()
  if (!fresh) console.error('THIRD-PARTY-NOTICES.md is stale: run npm run gen')
  process.exitCode = fresh && unfitting.length === 0 ? 0 : 1
} else {
  writeFileSync(file, render())
}
