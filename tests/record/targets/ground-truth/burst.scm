;; SPDX-License-Identifier: GPL-3.0-or-later
;; burst.scm SECONDS: works, three quarters of it in one function. truth.h
;; describes its output.
(use-modules (ice-9 format) (ice-9 rdelim))

(define (heavy n)
  (let loop ((i n) (a 1))
    (if (= i 0) a (loop (- i 1) (logand (+ (* a 31) i) #xffffff)))))

(define (light n)
  (let loop ((i n) (a 1))
    (if (= i 0) a (loop (- i 1) (logand (+ (* a 31) i) #xffffff)))))

(define (clock)
  (/ (get-internal-run-time) (exact->inexact internal-time-units-per-second)))

(define (word path i)
  (string->number
   (list-ref (string-tokenize (call-with-input-file path read-line)) i)))

;; Its own frame is on the stack while the function runs.
(define (timed spent part n)
  (let* ((before (clock)) (a (part n)))
    (set-car! spent (+ (car spent) (- (clock) before)))
    a))

(define heavies (list 0.0))
(define lights (list 0.0))

(define (work done)
  (when (< (clock) done)
    (timed heavies heavy 3000000)
    (timed lights light 1000000)
    (work done)))

(define (main seconds)
  (let ((start (word "/proc/uptime" 0)))
    (when (getenv "TRUTH_GO")
      (call-with-input-file (getenv "TRUTH_GO") read-char))
    (let ((began (clock)))
      (work (+ began seconds))
      (with-output-to-file (or (getenv "TRUTH") "/dev/stdout")
        (lambda ()
          (format #t "part\theavy\t~f\n" (car heavies))
          (format #t "part\tlight\t~f\n" (car lights))
          (format #t "thread\tguile\t~d\t~f\t~f\t~f\n" (getpid) (clock)
                  (/ (word "/proc/self/schedstat" 1) 1e9)
                  (- (word "/proc/uptime" 0) start))
          (format #t "process\t~f\t~f\n" began (clock)))))))

(main (string->number (cadr (command-line))))
