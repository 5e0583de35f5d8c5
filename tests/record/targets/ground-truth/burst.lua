-- SPDX-License-Identifier: GPL-3.0-or-later
-- burst.lua SECONDS: works, three quarters of it in one function. truth.h
-- describes its output.
local spent = { heavy = 0, light = 0 }

local function number(path, which)
  local file = io.open(path)
  local text = file:read("*a")
  local i = 0
  file:close()
  for word in text:gmatch("%S+") do
    i = i + 1
    if i == which then
      return tonumber(word)
    end
  end
end

local start = number("/proc/uptime", 1)

function heavy()
  local a = 1
  for i = 1, 90000 do
    a = (a * 31 + i) % 16777216
  end
  return a
end

function light()
  local a = 1
  for i = 1, 30000 do
    a = (a * 31 + i) % 16777216
  end
  return a
end

local function timed(name, part)
  local before = os.clock()
  part()
  spent[name] = spent[name] + os.clock() - before
end

-- A coroutine: its own stack, above that of the main one.
local function work(seconds)
  local done = os.clock() + seconds
  local both = coroutine.wrap(function()
    while true do
      timed("heavy", function() return (heavy()) end)
      timed("light", function() return (light()) end)
      coroutine.yield()
    end
  end)
  while os.clock() < done do
    both()
  end
end

if os.getenv("TRUTH_GO") then
  io.open(os.getenv("TRUTH_GO")):read(1)
end
local began = os.clock()
work(tonumber(arg[1]))
local waited = number("/proc/self/schedstat", 2) / 1e9
local lasted = number("/proc/uptime", 1) - start
local file = io.open(os.getenv("TRUTH") or "/dev/stdout", "w")
for name, seconds in pairs(spent) do
  file:write(string.format("part\t%s\t%.9f\n", name, seconds))
end
file:write(string.format("thread\tlua\t%d\t%.9f\t%.9f\t%.9f\n", number("/proc/self/stat", 1),
  os.clock(), waited, lasted))
file:write(string.format("process\t%.9f\t%.9f\n", began, os.clock()))
file:close()
