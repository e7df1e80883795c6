import { contract } from './contract.ts'
import { startInProcess } from './in-process.ts'

contract('in-process', startInProcess)
