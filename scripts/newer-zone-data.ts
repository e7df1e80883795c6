/**
 * Warns if the package of the time zone database has been published again: its data may be newer. Part of `npm run
 * check`. It never fails, and is silent without a network.
 */
import { spawnSync } from 'node:child_process'
import manifest from '../package.json' with { type: 'json' }
import { ZONE_DATA_VERSION } from '../src/domain/zone-data.ts'

const NAME = 'moment-timezone'
const installed = manifest.dependencies[NAME]
const question = ['view', NAME, 'version', '--fetch-retries=0', '--fetch-timeout=3000']
const { stdout } = spawnSync('npm', question, { encoding: 'utf8', timeout: 5000 })
const published = (stdout ?? '').trim()
if (/^\d+\.\d+\.\d+$/.test(published) && Bun.semver.order(published, installed) > 0) {
  console.warn(
    `warning: ${NAME} ${published} is published, and may have newer time zone data than ${ZONE_DATA_VERSION}: npm install --save-exact ${NAME}@${published}`,
  )
}
