-- SPDX-License-Identifier: GPL-3.0-or-later
-- Works 30 calls deep, and prints its CPU time in seconds. A just-in-time
-- compiler has more turns to do.
local function leaf(x)
  local s = 0
  for i = 0, 39 do
    s = (s * 31 + x + i) % 16777216
  end
  return s
end

local function deep(n)
  if n < 2 then
    return 1
  end
  return deep(n - 1) + leaf(n)
end

for _ = 1, jit and 400000 or 150000 do
  deep(30)
end
print(os.clock())
