import controls from './controls.module.css'
import classes from './column-menu.module.css'

interface ColumnMenuProps {
  names: readonly string[]
  isShown: (name: string) => boolean
  onToggle: (name: string) => void
}

/** Which columns of a table are shown. */
export function ColumnMenu({ names, isShown, onToggle }: ColumnMenuProps) {
  return (
    <>
      <button type="button" className={`${controls.button} ${classes.button}`} popoverTarget="columns">
        Columns
      </button>
      <fieldset id="columns" popover="auto" className={classes.columns}>
        <legend>Columns</legend>
        {names.map((name) => (
          <label key={name}>
            <input type="checkbox" checked={isShown(name)} onChange={() => onToggle(name)} /> {name}
          </label>
        ))}
      </fieldset>
    </>
  )
}
