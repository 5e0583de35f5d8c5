/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-return-frame.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define UC_FP_XSTATE 1
#define UC_SIGCONTEXT_SS 2
#define UC_STRICT_RESTORE_SS 4
#define MAGIC1 0x46505853u
#define MAGIC2 0x46505845u
/* A field of the state that only frames contain. */
#define WORDS_AT 464
/* So that the state is at a multiple of 64. */
#define AT_OFFSET 56
#define UCONTEXT_AT 16
#define UCONTEXT_SIZE 304
#define ERESTARTSYS 512
#define ERESTART_RESTARTBLOCK 516
/* A stack that the kernel ignores as invalid: the thread's own remains. */
#define NO_STACK 0x7fff

/* struct _fpx_sw_bytes */
typedef struct
{
  guint32 magic1;
  guint32 extended_size;
  guint64 features;
  guint32 state_size;
  guint32 unused[7];
} StateWords;

G_STATIC_ASSERT (sizeof (StateWords) == 48);

typedef struct
{
  guint64 flags;
  guint64 link;
  guint64 stack, stack_flags, stack_size;
  guint64 r8, r9, r10, r11, r12, r13, r14, r15;
  guint64 rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
  guint16 cs, gs, fs, ss;
  guint64 error, trap, old_mask, cr2;
  guint64 state;
  guint64 reserved[8];
  guint64 mask;
} Context;

G_STATIC_ASSERT (sizeof (Context) == UCONTEXT_SIZE);

/* --- the kernel's own words ---------------------------------------------- */

static StateWords words;

static void
on_signal (int sig, siginfo_t *info, void *context)
{
  const ucontext_t *here = context;

  if (here->uc_mcontext.fpregs != NULL)
    memcpy (&words,
            (const char *)here->uc_mcontext.fpregs + WORDS_AT,
            sizeof words);
}

/* How this kernel describes the state in a frame: as in one of our own. */
static const StateWords *
own_words (void)
{
  static gsize asked;

  if (g_once_init_enter (&asked))
    {
      struct sigaction action = { .sa_sigaction = on_signal,
                                  .sa_flags = SA_SIGINFO };
      struct sigaction before;
      sigset_t set, old;

      sigemptyset (&set);
      sigaddset (&set, SIGRTMAX);
      sigaction (SIGRTMAX, &action, &before);
      pthread_sigmask (SIG_UNBLOCK, &set, &old);
      pthread_kill (pthread_self (), SIGRTMAX);
      pthread_sigmask (SIG_SETMASK, &old, NULL);
      sigaction (SIGRTMAX, &before, NULL);
      g_once_init_leave (&asked, 1);
    }
  return words.magic1 == MAGIC1 ? &words : NULL;
}

/* --- the frame ----------------------------------------------------------- */

guint64
flam_return_frame_below (guint64 end, gsize n_state)
{
  return ((end - n_state - FLAM_RETURN_FRAME_MORE) & ~(guint64)63) + AT_OFFSET;
}

/* A call that was interrupted begins again, as after a signal without a
 * handler. The rest of its time is unknown. */
static void
restart (Context *context, const struct user_regs_struct *regs)
{
  gint64 result = (gint64)regs->rax;

  if ((gint64)regs->orig_rax < 0 || result > -ERESTARTSYS ||
      result < -ERESTART_RESTARTBLOCK)
    return;
  context->rax = regs->orig_rax;
  context->rip -= 2;
}

static Context
context_of (const FlamReturn *back, guint64 state)
{
  const struct user_regs_struct *regs = back->regs;
  Context context = {
    .flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS,
    .stack_flags = NO_STACK,
    .r8 = regs->r8,
    .r9 = regs->r9,
    .r10 = regs->r10,
    .r11 = regs->r11,
    .r12 = regs->r12,
    .r13 = regs->r13,
    .r14 = regs->r14,
    .r15 = regs->r15,
    .rdi = regs->rdi,
    .rsi = regs->rsi,
    .rbp = regs->rbp,
    .rbx = regs->rbx,
    .rdx = regs->rdx,
    .rax = regs->rax,
    .rcx = regs->rcx,
    .rsp = regs->rsp,
    .rip = regs->rip,
    .eflags = regs->eflags,
    .cs = (guint16)regs->cs,
    .gs = (guint16)regs->gs,
    .fs = (guint16)regs->fs,
    .ss = (guint16)regs->ss,
    .state = state,
    .mask = back->mask,
  };

  restart (&context, regs);
  return context;
}

gsize
flam_return_frame_make (const FlamReturn *back,
                        guint64 at,
                        guint8 *frame,
                        gsize room)
{
  const StateWords *own = own_words ();
  gsize state_at = 64 - AT_OFFSET + ((UCONTEXT_AT + UCONTEXT_SIZE + 63) & ~63);
  const guint32 magic2 = MAGIC2;
  Context context = context_of (back, at + state_at);
  gsize size;

  if (own == NULL || own->state_size > back->n_state ||
      own->state_size < WORDS_AT + sizeof *own)
    return 0;
  size = state_at + own->state_size + sizeof magic2;
  if (size > room)
    return 0;
  memset (frame, 0, size);
  memcpy (frame, &back->gate, 8);
  memcpy (frame + 8, &back->leave, 8);
  memcpy (frame + UCONTEXT_AT, &context, sizeof context);
  memcpy (frame + state_at, back->state, own->state_size);
  memcpy (frame + state_at + WORDS_AT, own, sizeof *own);
  memcpy (frame + state_at + own->state_size, &magic2, sizeof magic2);
  return size;
}
