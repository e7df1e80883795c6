import { contract } from './contract.ts'
import { startInProcess } from './in-process.ts'

contract('in-process', startInProcess)
// With lists on, all other answers stay the same (contract §4.3).
contract('in-process, with lists on', (settings, lists) => startInProcess({ lists: 'on', ...settings }, lists), true)
