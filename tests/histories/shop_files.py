"""The files with which the shop's history begins, in three languages."""

from typing import Final

REFUNDS: Final = '''\
"""Refunds of orders."""

import time
from decimal import Decimal

RETRIES = 3
WINDOW_DAYS = 90
FEE = Decimal("0.25")


class Refunds:
    """Gives money back."""

    def __init__(self, gateway, ledger):
        self.gateway = gateway
        self.ledger = ledger

    def settle(self, order, amount):
        if amount <= 0:
            raise ValueError("nothing to give back")
        self.ledger.lock(order)
        try:
            self.gateway.refund(order, amount)
        finally:
            self.ledger.unlock(order)

    def allowed(self, order, today):
        return (today - order.paid_on).days <= WINDOW_DAYS


def wait(attempt):
    time.sleep(min(60, 2**attempt))
'''
LEDGER: Final = '''\
"""The ledger of orders."""


class Ledger:
    def __init__(self):
        self.locked = set()

    def lock(self, order):
        self.locked.add(order)

    def unlock(self, order):
        self.locked.discard(order)
'''
CART: Final = """\
import { round } from "./format";

export const MAX_ITEMS = 50;
const TAX = 0.19;

export interface Line {
  sku: string;
  count: number;
  price: number;
}

export function total(lines: Line[]): number {
  let sum = 0;
  for (const line of lines) {
    sum += line.price * line.count;
  }
  return round(sum * (1 + TAX));
}

export const add = (lines: Line[], line: Line): Line[] => {
  if (lines.length >= MAX_ITEMS) {
    throw new Error("the cart is full");
  }
  return [...lines, line];
};
"""
FORMAT: Final = """\
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
"""
QUEUE: Final = """\
package server

import (
	"errors"
	"time"
)

const (
	maxRetries = 5
	ackTimeout = 30 * time.Second
)

// Queue holds jobs.
type Queue struct {
	jobs    []Job
	waiting int
}

// Push adds a job.
func (q *Queue) Push(job Job) error {
	if len(q.jobs) >= 1000 {
		return errors.New("queue is full")
	}
	q.jobs = append(q.jobs, job)
	return nil
}

// Pop takes the oldest job.
func (q *Queue) Pop() (Job, error) {
	if len(q.jobs) == 0 {
		return Job{}, errors.New("queue is empty")
	}
	job := q.jobs[0]
	q.jobs = q.jobs[1:]
	return job, nil
}
"""
JOB: Final = """\
package server

// Job is work to do.
type Job struct {
	ID   string
	Tries int
}
"""
FILES: Final = {
    "billing/refunds.py": REFUNDS,
    "billing/ledger.py": LEDGER,
    "web/src/cart.ts": CART,
    "web/src/format.ts": FORMAT,
    "server/queue.go": QUEUE,
    "server/job.go": JOB,
    "README.md": "# A shop\n\nIt sells things.\n",
}
