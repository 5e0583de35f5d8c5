-- SPDX-License-Identifier: GPL-3.0-or-later
-- storm.lua ROUNDS: errors, collections of garbage, functions and coroutines that
-- end, children.
local function fail(depth)
  if depth == 0 then
    error("storm", 0)
  end
  return 1 + fail(depth - 1)
end

local function survive()
  local _, message = pcall(fail, 50)
  return #message
end

local function litter()
  local kept = {}
  for i = 1, 3000 do
    kept[i] = { i, "a" .. i }
  end
  return #kept
end

local function fresh(number)
  local code = "local s = " .. number .. " for i = 1, 5000 do s = s + i end return s"
  return (loadstring or load)(code)()
end

local function cross(number)
  local sum = 0
  for value in coroutine.wrap(function()
    for i = 1, 50 do
      coroutine.yield(i)
    end
  end) do
    sum = sum + value
  end
  return sum + number
end

local total = 0
for number = 1, tonumber(arg[1]) do
  total = total + survive() + litter() + fresh(number) + cross(number)
  if number % 20 == 0 then
    collectgarbage()
    os.execute("true")
  end
end
print(total)
