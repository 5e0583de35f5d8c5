;; SPDX-License-Identifier: GPL-3.0-or-later
;; Works 30 calls deep, and prints its CPU time in seconds.
(define (leaf x)
  (let loop ((i 0) (s 0))
    (if (< i 40) (loop (+ i 1) (modulo (+ (* s 31) x i) 16777216)) s)))

(define (deep n)
  (if (< n 2) 1 (+ (deep (- n 1)) (leaf n))))

(do ((i 0 (+ i 1))) ((= i 40000)) (deep 30))
(display (/ (get-internal-run-time)
            (exact->inexact internal-time-units-per-second)))
(newline)
