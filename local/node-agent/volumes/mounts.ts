import path from 'node:path'
import type { Container, VolumeMount } from '../objects.ts'

/** A path as the container knows it, and the file or folder on this machine that it stands for. */
export interface Mount {
  mountPath: string
  realPath: string
}

/**
 * Where a container's mounts really are.
 *
 * @param findVolume the folder of a volume
 * @param expandPath replaces `$(NAME)` in a subPathExpr
 */
export function locateMounts(
  container: Container,
  findVolume: (name: string) => string,
  expandPath: (text: string) => string,
): Mount[] {
  return (container.volumeMounts ?? []).map((mount) => ({
    mountPath: trimSlash(mount.mountPath),
    realPath: path.join(findVolume(mount.name), readSubPath(mount, expandPath)),
  }))
}

/**
 * Processes here share the machine's files, so a mounted path in a variable or argument is replaced by the real one:
 * as the whole value, after `=`, or as an item of a `:` list. Longer mount paths win. Text inside a shell script is
 * left alone.
 */
export function rewritePaths(value: string, mounts: Mount[]): string {
  const ordered = mounts.toSorted((a, b) => b.mountPath.length - a.mountPath.length)
  return value.replace(/(^|[=:])(\/[^=:]*)/g, (_, boundary: string, found: string) => {
    const mount = ordered.find(({ mountPath }) => found === mountPath || found.startsWith(`${mountPath}/`))
    return boundary + (mount ? mount.realPath + found.slice(mount.mountPath.length) : found)
  })
}

function readSubPath(mount: VolumeMount, expandPath: (text: string) => string): string {
  const subPath = mount.subPathExpr ? expandPath(mount.subPathExpr) : (mount.subPath ?? '')
  if (path.isAbsolute(subPath) || subPath.split('/').includes('..')) {
    throw new Error(`subPath ${subPath} of volume ${mount.name} leaves its volume`)
  }
  return subPath
}

function trimSlash(mountPath: string): string {
  return mountPath.length > 1 ? mountPath.replace(/\/+$/, '') : mountPath
}
