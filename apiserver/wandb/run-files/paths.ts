import type { LinkTarget } from '../links/links.ts'

const maxPathLength = 1_024

/** Whether a text can be the path of a run's file. Clients write it into a folder of their own. */
export function isFilePath(path: string): boolean {
  return (
    path !== '' &&
    path.length <= maxPathLength &&
    path.isWellFormed() &&
    !/[\0\\]/.test(path) &&
    path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')
  )
}

/** The address of a run's file, for a link. */
export function targetOf(
  method: LinkTarget['method'],
  { entity, project, name }: { entity: string; project: string; name: string },
  path: string,
): LinkTarget {
  const segments = [entity, project, name, 'run_files', ...path.split('/')]
  return { method, path: `/files/${segments.map(encodeURIComponent).join('/')}` }
}
