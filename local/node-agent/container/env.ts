import type { Container, EnvVarSource, Pod, Service } from '../objects.ts'

export type Env = Record<string, string>

/** The sources of values that are not in the pod itself. Each throws when a value is missing. */
export interface EnvSources {
  readConfigMap: (name: string) => Promise<Record<string, string> | undefined>
  readSecret: (name: string) => Promise<Record<string, string> | undefined>
  readField: (fieldPath: string) => string
}

/** A value that the pod names is missing. Nothing starts until it exists. */
export class EnvError extends Error {
  override name = 'EnvError'
}

/**
 * Resolves a container's own variables: envFrom first, then env in order. Each `$(NAME)` is replaced by a variable that
 * was resolved before it.
 *
 * @param services the service variables, which a value may refer to
 */
export async function resolveEnv(container: Container, services: Env, sources: EnvSources): Promise<Env> {
  const env: Env = {}
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const values = configMapRef
      ? await readWhole('configmap', configMapRef, sources.readConfigMap)
      : await readWhole('secret', secretRef ?? {}, sources.readSecret)
    for (const [name, value] of Object.entries(values)) env[prefix + name] = value
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const found = valueFrom ? await readSource(valueFrom, sources) : expand(value ?? '', { ...services, ...env })
    if (found !== undefined) env[name] = found
  }
  return env
}

/** Replaces `$(NAME)` by its value and `$$` by `$`. An unknown name stays unchanged. */
export function expand(text: string, env: Env): string {
  return text.replace(/\$\$|\$\(([^()$]+)\)/g, (whole, name: string | undefined) => {
    if (name === undefined) return '$'
    return env[name] ?? whole
  })
}

/** The service variables of a namespace, in a kubelet's form. */
export function serviceEnv(services: Service[], namespace: string): Env {
  const own = services.filter((service) => service.metadata?.namespace === namespace && hasAddress(service))
  return Object.assign({}, ...own.map(describeService)) as Env
}

/** The field of a pod that `fieldRef` names. */
export function readPodField(pod: Pod, podIP: string, fieldPath: string): string {
  const entry = /^metadata\.(labels|annotations)(?:\['(.+)'\])?$/.exec(fieldPath)
  if (entry) return readMap(pod.metadata?.[entry[1] as 'labels' | 'annotations'] ?? {}, entry[2])
  const fields: Record<string, string | undefined> = {
    'metadata.name': pod.metadata?.name,
    'metadata.namespace': pod.metadata?.namespace,
    'metadata.uid': pod.metadata?.uid,
    'spec.nodeName': pod.spec?.nodeName,
    'spec.serviceAccountName': pod.spec?.serviceAccountName,
    'status.podIP': podIP,
    'status.podIPs': podIP,
    'status.hostIP': '127.0.0.1',
    'status.hostIPs': '127.0.0.1',
  }
  const value = fields[fieldPath]
  if (value === undefined) throw new EnvError(`field ${fieldPath} is not known`)
  return value
}

function readMap(map: Record<string, string>, key: string | undefined): string {
  if (key !== undefined) return map[key] ?? ''
  const lines = Object.entries(map).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return lines.sort().join('\n')
}

type Reference = { name?: string; optional?: boolean }

async function readWhole(
  kind: string,
  { name = '', optional }: Reference,
  read: EnvSources['readSecret'],
): Promise<Record<string, string>> {
  const values = await read(name)
  if (values) return values
  if (optional) return {}
  throw new EnvError(`${kind} "${name}" not found`)
}

async function readSource(source: EnvVarSource, sources: EnvSources): Promise<string | undefined> {
  if (source.fieldRef) return sources.readField(source.fieldRef.fieldPath)
  const isSecret = source.secretKeyRef !== undefined
  const reference = source.secretKeyRef ?? source.configMapKeyRef
  if (!reference) throw new EnvError('valueFrom names no known source')
  const kind = isSecret ? 'secret' : 'configmap'
  const values = await readWhole(kind, reference, isSecret ? sources.readSecret : sources.readConfigMap)
  const value = values[reference.key]
  if (value === undefined && !reference.optional) {
    throw new EnvError(`couldn't find key ${reference.key} in ${kind} ${reference.name}`)
  }
  return value
}

function hasAddress(service: Service): boolean {
  const address = service.spec?.clusterIP
  return address !== undefined && address !== '' && address !== 'None'
}

function describeService(service: Service): Env {
  const name = envName(service.metadata?.name ?? '')
  const host = service.spec?.clusterIP ?? ''
  const ports = service.spec?.ports ?? []
  const first = ports[0]
  if (!first) return {}
  const env: Env = {
    [`${name}_SERVICE_HOST`]: host,
    [`${name}_SERVICE_PORT`]: String(first.port),
    [`${name}_PORT`]: portUrl(host, first),
  }
  for (const port of ports) {
    if (port.name) env[`${name}_SERVICE_PORT_${envName(port.name)}`] = String(port.port)
    const prefix = `${name}_PORT_${port.port}_${port.protocol ?? 'TCP'}`
    env[prefix] = portUrl(host, port)
    env[`${prefix}_PROTO`] = (port.protocol ?? 'TCP').toLowerCase()
    env[`${prefix}_PORT`] = String(port.port)
    env[`${prefix}_ADDR`] = host
  }
  return env
}

function portUrl(host: string, port: { port: number; protocol?: string }): string {
  return `${(port.protocol ?? 'TCP').toLowerCase()}://${host}:${port.port}`
}

function envName(name: string): string {
  return name.toUpperCase().replaceAll('-', '_')
}
