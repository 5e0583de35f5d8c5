/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A program that does little but allocate: a hash table of strings that come
 * and go, in several threads. `churn ROUNDS [THREADS]` */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 4096

typedef struct Node
{
  struct Node *next;
  char *text;
} Node;

static long rounds = 1000000;

__attribute__ ((noinline)) static Node *
make_node (uint32_t number)
{
  Node *node = malloc (sizeof *node);
  char text[64];
  int length = snprintf (text, sizeof text, "entry %u of the table", number);

  node->text = malloc (length + 1);
  memcpy (node->text, text, length + 1);
  node->next = NULL;
  return node;
}

__attribute__ ((noinline)) static void
free_node (Node *node)
{
  free (node->text);
  free (node);
}

static void *
churn (void *data)
{
  Node **table = calloc (SLOTS, sizeof *table);
  uint32_t seed = (uint32_t)(uintptr_t)data;

  for (long i = 0; i < rounds; i++)
    {
      Node **slot;

      seed = seed * 1664525 + 1013904223;
      slot = &table[seed >> 20];
      if (*slot != NULL && seed & 1)
        {
          Node *old = *slot;

          *slot = old->next;
          free_node (old);
        }
      else
        {
          Node *node = make_node (seed);

          node->next = *slot;
          *slot = node;
        }
    }
  return table;
}

int
main (int argc, char **argv)
{
  int n = argc > 2 ? atoi (argv[2]) : 1;
  pthread_t threads[16];

  if (argc > 1)
    rounds = atol (argv[1]);
  n = n < 1 ? 1 : n > 16 ? 16 : n;
  for (int i = 0; i < n; i++)
    pthread_create (&threads[i], NULL, churn, (void *)(uintptr_t)(i + 1));
  for (int i = 0; i < n; i++)
    pthread_join (threads[i], NULL);
  return 0;
}
