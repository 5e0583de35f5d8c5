-- SPDX-License-Identifier: GPL-3.0-or-later
-- burst SECONDS: works, three quarters of it in one function. truth.h describes
-- its output. The functions are exported, since GHC gives others no symbols.
module Main (main, heavy, light, timed, work) where

import Control.Monad (when)
import Data.Bits ((.&.))
import Data.IORef
import System.CPUTime (getCPUTime)
import System.Environment (getArgs, lookupEnv)
import System.IO

heavy :: Int -> Int
heavy n = go n 1
  where go 0 a = a
        go i a = go (i - 1) ((a * 31 + i) .&. 0xffffff)
{-# NOINLINE heavy #-}

light :: Int -> Int
light n = go n 1
  where go 0 a = a
        go i a = go (i - 1) ((a * 31 + i) .&. 0xffffff)
{-# NOINLINE light #-}

-- Its own frame is on the stack while the function runs.
timed :: IORef Integer -> (Int -> Int) -> Int -> IO ()
timed spent part n = do
  before <- getCPUTime
  let a = part n
  after <- a `seq` getCPUTime
  modifyIORef' spent (+ (after - before))
{-# NOINLINE timed #-}

work :: Integer -> IORef Integer -> IORef Integer -> IO ()
work done heavies lights = do
  now <- getCPUTime
  when (now < done) $ do
    timed heavies heavy 3000000
    timed lights light 1000000
    work done heavies lights

seconds :: Integer -> String
seconds time = show (fromIntegral time / 1e12 :: Double)

word :: FilePath -> Int -> IO String
word path i = do
  text <- readFile path
  return $! words text !! i

main :: IO ()
main = do
  start <- word "/proc/uptime" 0
  [last] <- getArgs
  go <- lookupEnv "TRUTH_GO"
  -- A FIFO without a writer is at its end, if it is only read.
  mapM_ (\path -> openFile path ReadWriteMode >>= hGetChar) go
  began <- getCPUTime
  heavies <- newIORef 0
  lights <- newIORef 0
  work (began + round (read last * 1e12 :: Double)) heavies lights
  heavy' <- readIORef heavies
  light' <- readIORef lights
  pid <- word "/proc/self/stat" 0
  waited <- word "/proc/self/schedstat" 1
  ended <- getCPUTime
  end <- word "/proc/uptime" 0
  truth <- lookupEnv "TRUTH"
  maybe putStr writeFile truth $ unlines
    [ "part\tMain.heavy\t" ++ seconds heavy'
    , "part\tMain.light\t" ++ seconds light'
    , concat [ "thread\tburst\t", pid, "\t", seconds ended, "\t"
             , show (read waited / 1e9 :: Double), "\t"
             , show (read end - read start :: Double) ]
    , "process\t" ++ seconds began ++ "\t" ++ seconds ended ]
