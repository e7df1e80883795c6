/**
 * How often each id is requested: all equally, or by Zipf's law (s = 1), the second half as often as the first, and so
 * on.
 */
export type Popularity = 'even' | 'zipf'

/**
 * Draws a rank from 1 to `count`; rank k has a probability proportional to 1/k. It inverts a continuous curve and
 * rejects the excess in the first ranks, at most a tenth.
 * @param next returns random numbers from 0 (inclusive) to 1 (exclusive)
 */
export function zipfRank(count: number, next: () => number): number {
  const span = Math.log(2 * count + 1)
  for (;;) {
    const rank = Math.floor((Math.exp(next() * span) + 1) / 2)
    if (next() * Math.log((rank + 0.5) / (rank - 0.5)) <= 1 / rank) return rank
  }
}

/** The same as a Lua function `zipf_rank`, for wrk. */
export const ZIPF_LUA = `local floor, exp, log = math.floor, math.exp, math.log
local function zipf_rank(count)
  local span = log(2 * count + 1)
  while true do
    local rank = floor((exp(math.random() * span) + 1) / 2)
    if math.random() * log((rank + 0.5) / (rank - 0.5)) <= 1 / rank then return rank end
  end
end
`
