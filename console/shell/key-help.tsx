import { listKeys } from '../logic/keys.ts'
import { Dialog } from '../parts/dialog.tsx'
import classes from './palette.module.css'

const screens = {
  everywhere: 'Everywhere',
  lists: 'In lists',
  steps: 'With steps',
  traces: 'In traces',
}

/** All keys of the console. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div className={classes.help}>
        {listKeys().map(({ where, keys }) => (
          <section key={where}>
            <h3>{screens[where]}</h3>
            <dl>
              {keys.map(({ press, does }) => (
                <div key={press}>
                  <dt>{does}</dt>
                  <dd>
                    <kbd>{press}</kbd>
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
