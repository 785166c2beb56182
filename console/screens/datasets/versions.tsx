import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { basePath } from '../../data/base.ts'
import { fileAddress, objectsQuery, versionsQuery } from '../../data/data-sets.ts'
import { revealHidden } from '../../logic/chat.ts'
import { readKey } from '../../logic/data-sets.ts'
import { describeSize, formatBytes } from '../../logic/numbers.ts'
import { Age } from '../../parts/badges.tsx'
import { Command } from '../../parts/command.tsx'
import controls from '../../parts/controls.module.css'
import { Peek } from '../../parts/peek.tsx'
import { Answered } from '../../parts/state.tsx'
import classes from './versions.module.css'

const route = '/inside/$entity/$project/datasets'

/** The versions of a data set, the newest first. */
export function VersionsPeek({ id, onClose }: { id: string; onClose: () => void }) {
  const { isOfWeave, name } = readKey(id)
  return (
    <Peek label="Data set" id={name} link={<b>{name}</b>} onClose={onClose}>
      {isOfWeave ? <Published name={name} /> : <Uploaded name={name} />}
    </Peek>
  )
}

/** The versions of an upload, with their files. A job takes the address of one as its training data. */
function Uploaded({ name }: { name: string }) {
  const { entity, project } = useParams({ from: route })
  const result = useQuery(versionsQuery({ entity, project, name }))
  return (
    <Answered result={result} rows={4}>
      {({ items, ...size }) => (
        <>
          <p className={classes.count}>{describeSize(items.length, size, 'version')}</p>
          <ol className={classes.versions}>
            {items.map(({ id, version, address, size: bytes, files, created_at: time }) => (
              <li key={id}>
                <h2>
                  {version} <small>{formatBytes(bytes)}</small> <Age time={time} />
                </h2>
                <Command text={address} />
                <ul>
                  {files.map(({ path, size: fileBytes }) => (
                    <li key={path}>
                      <a
                        className={controls.quiet}
                        href={basePath + fileAddress([entity, project, `${name}:${version}`], path)}
                        download
                      >
                        ↓ {revealHidden(path)}
                      </a>{' '}
                      <small>{formatBytes(fileBytes)}</small>
                    </li>
                  ))}
                </ul>
              </li>
            ))}
          </ol>
        </>
      )}
    </Answered>
  )
}

/** The versions of a data set of weave, by their references. */
function Published({ name }: { name: string }) {
  const { entity, project } = useParams({ from: route })
  const projectId = `${entity}/${project}`
  const result = useQuery(objectsQuery(projectId, name))
  return (
    <Answered result={result} rows={4}>
      {(versions) => (
        <ol className={classes.versions}>
          {versions.map(({ digest, version_index: index, created_at: time }) => (
            <li key={digest}>
              <h2>
                v{index} <Age time={time} />
              </h2>
              <Command text={`weave:///${projectId}/object/${name}:${digest}`} />
            </li>
          ))}
        </ol>
      )}
    </Answered>
  )
}
