-- SPDX-License-Identifier: GPL-3.0-or-later
-- asleep.lua FILE SECONDS: writes its own stack to FILE, one frame a line, "name
-- TAB line", innermost first, and waits there.
local function frames()
  local list = {}
  local level = 2
  while true do
    local info = debug.getinfo(level, "Snl")
    if not info then
      return table.concat(list)
    end
    local called = info.namewhat ~= "metamethod" and info.name
    local name = info.what == "main" and "main chunk" or called or
      info.what ~= "C" and ("function <%s:%d>"):format(info.short_src, info.linedefined)
    if name then
      list[#list + 1] = ("%s\t%d\n"):format(name, math.max(info.currentline, 0))
    end
    level = level + 1
  end
end

local function write(said)
  local file = io.open(arg[1] .. ".new", "w")
  file:write(said)
  file:close()
  os.rename(arg[1] .. ".new", arg[1])
end

local object = {}

function object:method(outer, n)
  if n > 0 then
    local result = self:method(outer, n - 1)
    return result
  end
  local pipe = io.popen("sleep " .. arg[2])
  write(frames() .. outer) pipe:read("*a")
  return 1
end

local compared = setmetatable({}, { __index = function(_, outer)
  local found = object:method(outer, 3)
  return found
end })

function sorted(outer)
  local list = { 1, 2 }
  local once = true
  table.sort(list, function(a, b)
    local value = once and compared[outer]
    once = false
    return value and a < b
  end)
end

local function start()
  local made = coroutine.create(sorted)
  local _, outer = true, frames() coroutine.resume(made, "resume\t0\n" .. outer)
end

start()
