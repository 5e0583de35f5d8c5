-- SPDX-License-Identifier: GPL-3.0-or-later
-- Works 30 calls deep, and prints its CPU time in seconds.
module Main (main, deep, leaf) where

import Data.Bits ((.&.))
import System.CPUTime (getCPUTime)

leaf :: Int -> Int
leaf x = go 0 0
  where go 40 s = s
        go i s = go (i + 1) ((s * 31 + x + i) .&. 0xffffff)
{-# NOINLINE leaf #-}

deep :: Int -> Int
deep n = if n < 2 then 1 else deep (n - 1) + leaf n
{-# NOINLINE deep #-}

turns :: Int -> Int -> Int
turns 0 s = s
turns n s = turns (n - 1) $! s + deep (29 + s .&. 1)

main :: IO ()
main = do
  ended <- turns 500000 0 `seq` getCPUTime
  print (fromIntegral ended / 1e12 :: Double)
