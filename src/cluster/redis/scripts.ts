// The scripts by which the store compares who may write before anything is written. Keys: state, log, events, venues,
// members. Commands of Redis 6.2 and Valkey alone.

/**
 * Adds an entry. A full store refuses this, the first command, before anything has changed. Any other refusal means
 * that somebody else wrote to the log, or that it is of another type: it begins again, because the hashes are the truth.
 */
const ADD = `
local function add(...)
  local added = redis.pcall('XADD', KEYS[2], ...)
  if type(added) ~= 'table' or not added.err then return nil end
  if string.find(added.err, 'OOM') or string.find(added.err, 'MISCONF') or string.find(added.err, 'READONLY') or string.find(added.err, 'NOPERM') or string.find(added.err, 'run this command') then return added end
  redis.call('UNLINK', KEYS[2])
  added = redis.pcall('XADD', KEYS[2], ...)
  if type(added) == 'table' and added.err then return added end
  return nil
end`

/** Writes rows to their hash by the first bytes of each (row-bytes.ts). */
const PUT = `
local function put(first)
  for at = first, #ARGV do
    local row = ARGV[at]
    local kind = string.byte(row, 1)
    local key = KEYS[4]
    if kind % 2 == 1 then key = KEYS[3] end
    if kind > 4 then redis.call('HDEL', key, string.sub(row, 2, 17))
    else redis.call('HSET', key, string.sub(row, 2, 17), row) end
  end
end`

/**
 * ARGV: token, seen token, seen seq, highest epoch known, after token, after seq, new 0|1, who. Answers 0, or 1 with the
 * number and the epoch of the claim.
 */
export const CLAIM = `${ADD}
local types = {'hash', 'stream', 'hash', 'hash', 'hash'}
for at = 1, 5 do
  local is = redis.call('TYPE', KEYS[at])['ok']
  if is ~= 'none' and is ~= types[at] then redis.call('UNLINK', KEYS[at]) end
end
local s = redis.call('HMGET', KEYS[1], 'token', 'seq', 'epoch')
if (s[1] or '') ~= ARGV[2] or (s[2] or '0') ~= ARGV[3] then return {0} end
local seq = string.format('%.0f', math.max(tonumber(ARGV[3]), tonumber(ARGV[6])) + 1)
local epoch = string.format('%.0f', math.max(tonumber(s[3] or '0') or 0, tonumber(ARGV[4])) + 1)
local failed = add(seq .. '-0', 't', ARGV[1], 'e', epoch, 'after', ARGV[5] .. ' ' .. ARGV[6], 'who', ARGV[8])
if failed then return failed end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'seq', seq, 'epoch', epoch)
if ARGV[7] == '1' then
  redis.call('HDEL', KEYS[1], 'ready')
  redis.call('UNLINK', KEYS[3], KEYS[4])
end
return {1, seq, epoch}`

/** ARGV: token, seq, beat or '', cut seq, ready 1 or '', notes, life ms, rows. Answers 0, or 1 with both sizes. */
export const WRITE = `${ADD}${PUT}
local s = redis.call('HMGET', KEYS[1], 'token', 'seq')
if s[1] ~= ARGV[1] or s[2] ~= ARGV[2] then return {0} end
local seq = string.format('%.0f', tonumber(ARGV[2]) + 1)
local fields = {seq .. '-0', 't', ARGV[1]}
if ARGV[3] ~= '' then
  table.insert(fields, 'beat')
  table.insert(fields, ARGV[3])
end
if #ARGV > 7 then
  table.insert(fields, 'rows')
  table.insert(fields, table.concat(ARGV, '', 8))
  table.insert(fields, 'times')
  table.insert(fields, ARGV[6])
end
local failed = add('MINID', '~', ARGV[4], unpack(fields))
if failed then return failed end
put(8)
redis.call('HSET', KEYS[1], 'seq', seq)
if ARGV[3] == '' then return {1, 0, 0} end
redis.call('HSET', KEYS[1], 'beat', ARGV[3])
if ARGV[5] == '1' then redis.call('HSET', KEYS[1], 'ready', '1') end
if redis.call('HLEN', KEYS[5]) > 10000 then redis.call('UNLINK', KEYS[5]) end
for at = 1, 5 do redis.call('PEXPIRE', KEYS[at], ARGV[7]) end
return {1, redis.call('HLEN', KEYS[3]), redis.call('HLEN', KEYS[4])}`

/** ARGV: token, rows. The log need not have them: \`ready\` is off, so nobody loads. */
export const FILL = `${PUT}
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
put(2)
return 1`
