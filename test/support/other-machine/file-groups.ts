import type { FileGroup } from '../file-shares.ts'

/**
 * Folders and files of each project whose tests depend on what machines differ in: programs in the search path, ports, the time
 * zone and the locale, modes of new files, names of folders, addresses, and proxies.
 */
export const fileGroups: Readonly<Record<string, FileGroup>> = {
  unit: { share: 2, files: ['apiserver/', 'console/', 'lib/', 'local/', 'operator/'] },
}
