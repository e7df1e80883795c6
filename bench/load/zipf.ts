/** Which ids are asked for: each as often as any other, or by Zipf's law (s = 1), the second half as often as the first, and so on. */
export type Popularity = 'even' | 'zipf'

/**
 * A rank from 1 to `count` of which rank k comes in proportion to 1/k: a continuous curve is inverted, and what it
 * gives too often (the first ranks, by a tenth at most) is refused as often as that.
 *
 * @param next random numbers from 0 (included) to 1 (excluded)
 */
export function zipfRank(count: number, next: () => number): number {
  const span = Math.log(2 * count + 1)
  for (;;) {
    const rank = Math.floor((Math.exp(next() * span) + 1) / 2)
    if (next() * Math.log((rank + 0.5) / (rank - 0.5)) <= 1 / rank) return rank
  }
}

/** The same for wrk: a function of Lua by the name `zipf_rank`. */
export const ZIPF_LUA = `local floor, exp, log = math.floor, math.exp, math.log
local function zipf_rank(count)
  local span = log(2 * count + 1)
  while true do
    local rank = floor((exp(math.random() * span) + 1) / 2)
    if math.random() * log((rank + 0.5) / (rank - 0.5)) <= 1 / rank then return rank end
  end
end
`
