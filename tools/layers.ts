import { readFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)
const importPattern = /(?:\bfrom|\bimport\(?|new URL\()\s*['"](\.{1,2}\/[^'"]+)['"]/g

/**
 * The layers of each folder, from top to bottom. A unit is a file or folder in it. A file imports (types included) from
 * its own unit and from lower layers, never from the same layer or a higher one.
 */
const layers: Record<string, readonly (readonly string[])[]> = {
  '.': [
    ['test'],
    ['tools'],
    ['local'],
    ['apiserver', 'operator'],
    ['artifacts'],
    ['db'],
    ['crds'],
    // The console is a program of browsers: it imports nothing of the others, and only its builder is imported.
    ['lib', 'artifacts/layout.ts', 'console'],
  ],
  console: [
    ['build.ts', 'main.tsx', 'vite.config.ts'],
    ['router.tsx'],
    ['traces-routes.tsx'],
    ['base-routes.tsx'],
    ['shell', 'screens'],
    ['parts'],
    ['data'],
    ['logic', 'styles'],
  ],
  'operator/backup': [
    ['main.ts'],
    ['commands.ts'],
    ['back-up.ts', 'restore.ts'],
    ['backup-folder.ts', 'config.ts', 'copy-store.ts'],
  ],
  artifacts: [['inputs'], ['store'], ['layout.ts']],
  operator: [
    ['main.ts'],
    ['step-down.ts'],
    ['leader-tasks.ts'],
    ['maintenance.ts', 'resync.ts'],
    ['controllers.ts', 'missing-resources.ts'],
    [
      'changed-objects.ts',
      'changed-rows.ts',
      'config.ts',
      'health.ts',
      'claim-namespace.ts',
      'readiness.ts',
      'watches.ts',
    ],
    ['backup', 'erasure', 'model', 'retention', 'status-server', 'training-job', 'uninstall', 'webhooks'],
    ['adapters', 'base-model', 'base-model-values', 'crd-check', 'deletion', 'gc', 'secret-rotation'],
    ['metrics'],
    ['add-model-labels.ts', 'component-pods.ts', 'conditions.ts', 'engine-client.ts', 'finalize.ts'],
    ['resource-keys.ts', 'resource-ids.ts', 'status-throttle.ts', 'tenants.ts'],
  ],
  apiserver: [
    ['main.ts'],
    ['serve.ts'],
    ['app.ts', 'background.ts', 'server-settings.ts'],
    ['wandb'],
    ['console', 'health', 'metrics', 'openapi', 'tracing', 'training'],
    ['inference'],
    ['kube.ts'],
    ['config.ts'],
    ['accounts'],
    ['errors', 'groups.ts', 'histories'],
  ],
}

/** Below these folders, at any depth, no two folders beside each other import each other. */
const hasSiblingRule = new Set(['apiserver', 'operator', 'db', 'lib', 'artifacts', 'crds', 'console'])

interface Import {
  from: string
  to: string
}

/** The relative imports of the production code. Tests may import what they test. */
function listImports(): Import[] {
  const { stdout } = spawnSync('git', ['ls-files', '*.ts', '*.tsx', '*.mjs'], { cwd: root, encoding: 'utf8' })
  const files = stdout.trim().split('\n')
  return files
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((from) =>
      [...readFileSync(path.join(root, from), 'utf8').matchAll(importPattern)].map(([, target]) => ({
        from,
        to: path.posix.join(path.posix.dirname(from), target!),
      })),
    )
}

/**
 * Checks an import against the layers of a folder. Returns `UNIT -> UNIT` if it is not allowed, or a unit without a
 * layer.
 */
function judgeImport(folder: string, { from, to }: Import): string | undefined {
  const [unit, target] = [from, to].map((file) => findUnit(folder, file))
  if (unit === undefined || target === undefined || unit === target) return undefined
  const [layer, targetLayer] = [unit, target].map((name) => layers[folder]!.findIndex((units) => units.includes(name)))
  if (layer === -1 || targetLayer === -1) return `${layer === -1 ? unit : target} has no layer in tools/layers.ts`
  return layer! < targetLayer! ? undefined : `${unit} -> ${target}`
}

/** Finds the unit of a file in a folder: the longest declared one. Files at the root of the repository have none. */
function findUnit(folder: string, file: string): string | undefined {
  const relative = path.posix.relative(folder, file)
  const [first, ...rest] = relative.split('/')
  if (first === '..' || (folder === '.' && rest.length === 0)) return undefined
  const declared = layers[folder]!.flat().filter((unit) => relative === unit || relative.startsWith(`${unit}/`))
  return declared.toSorted((a, b) => b.length - a.length)[0] ?? first
}

/** The two folders of one folder that an import joins. */
function findSiblings({ from, to }: Import): { folder: string; target: string } | undefined {
  const [names, targets] = [from, to].map((file) => path.posix.dirname(file).split('/'))
  const at = names!.findIndex((name, index) => name !== targets![index])
  if (!hasSiblingRule.has(names![0]!) || at < 1 || targets![at] === undefined) return undefined
  const upTo = (parts: string[]) => parts.slice(0, at + 1).join('/')
  return { folder: upTo(names!), target: upTo(targets!) }
}

/** Folders beside each other that import each other. */
function listMutualImports(imports: readonly Import[]): string[] {
  const pairs = imports.map(findSiblings).filter((pair) => pair !== undefined)
  const known = new Set(pairs.map(({ folder, target }) => `${folder} ${target}`))
  const mutual = pairs.filter(({ folder, target }) => folder < target && known.has(`${target} ${folder}`))
  return [...new Set(mutual.map(({ folder, target }) => `${folder} and ${target} import each other (tools/layers.ts)`))]
}

const imports = listImports()
const violations = imports.flatMap((each) =>
  Object.keys(layers).flatMap((folder) => {
    const violation = judgeImport(folder, each)
    return violation === undefined ? [] : [`${each.from} imports ${each.to}: ${folder}: ${violation} (tools/layers.ts)`]
  }),
)
violations.push(...listMutualImports(imports))
for (const violation of violations) console.log(violation)
process.exitCode = violations.length > 0 ? 1 : 0
