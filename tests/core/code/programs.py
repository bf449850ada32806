"""Programs made for tests, with what is defined where in them."""

from typing import Final

PROGRAMS: Final[dict[str, tuple[str, dict[str, str]]]] = {
    ".py": (
        """\
import x

@retry(3)
def settle(order, retries=3):
    \"\"\"Settle.

at column 0
\"\"\"
    if x:
        return (1,
    2)
    # end

# about next
class Billing(Base):
    name = "x"

    def settle(
        self,
        order,
    ) -> None:
        pass

    async def close(self): return 1

settle(1)
""",
        {
            "settle": "3-11",
            "Billing.settle": "18-22",
            "Billing": "15-24",
            "Billing::close": "24-24",
            "close": "24-24",
            "order": "",
            "Base": "",
        },
    ),
    ".ts": (
        """\
import { a } from "./a";

export async function settle(order: Order): Promise<{ id: string }> {
  const re = /[{"]/;
  if (order) { return `x ${order} }`; }
}

export const total = (items: Item[]) =>
  items.reduce((a, b) => a + b, 0);

export class Billing<T extends Foo> extends Base<T> implements Settles {
  private readonly retries = 3;
  static handler = async (event: Event) => {
    settle(event);
  };

  constructor(private a: A) {
    super();
  }

  async settle<T>(
    order: Order,
    x = { a: 1 },
  ): Promise<void> {
    await settle(
      order,
    );
  }

  get total(): number { return 1; }
}
export interface Order { id: string }
type Id = string | number;
function over(a: string): void;
function over(a: number): void;
function over(a: any) {
  return a;
}
""",
        {
            "settle": "3-6",
            "total": "8-9",
            "Billing": "11-31",
            "Billing.settle": "21-28",
            "Billing.handler": "13-15",
            "handler": "13-15",
            "Billing.total": "30-30",
            "Billing.constructor": "17-19",
            "Order": "32-32",
            "Id": "33-33",
            "over": "36-38",
            "Base": "",
            "Foo": "",
        },
    ),
    ".go": (
        """\
package billing

type Server struct {
	name string
}

func (s *Server) Settle(o Order) (Result, error) {
	x := `raw {`
	return Result{}, nil
}

func Settle[T any](o T) error {
	go func() { c <- 1 }()
	return nil
}

type Store interface {
	Get(id string) error
}
""",
        {
            "Settle": "12-15",
            "Server.Settle": "7-10",
            "Server": "3-5",
            "Store": "17-19",
            "Result": "",
        },
    ),
    ".rs": (
        """\
use x;

#[derive(Debug)]
pub struct Billing<'a> {
    name: &'a str,
}

impl<'a, T: Clone> Trait<T> for Billing<'a>
where
    T: Foo,
{
    #[inline]
    pub(crate) async fn settle<F>(&self, c: char) -> Result<(), Error>
    where
        F: Fn() -> u8,
    {
        if c == '{' { x("}") }
    }
}

pub const fn total(x: [u8; 4]) -> u8 { 1 }

pub enum Kind {
    A,
}
macro_rules! ask {
    () => {};
}
struct Unit;
""",
        {
            "settle": "12-18",
            "Billing": "3-6",
            "Billing::settle": "12-18",
            "Kind": "23-25",
            "ask": "26-28",
            "Trait": "",
        },
    ),
    ".cpp": (
        """\
#include <x>
static struct foo *settle(int x);

static struct foo *settle(int x)
{
    return 0;
}

int
gnu(int x)
{
}

void Billing::close(int x) const {
}

struct foo {
    int x;
};
""",
        {
            "settle": "4-7",
            "gnu": "10-12",
            "Billing::close": "14-15",
            "foo": "17-19",
        },
    ),
    ".java": (
        """\
package x;
public class Billing extends Base {
    @Override
    public Map<String, List<Result>> settle(Order o) throws Exception {
        return null;
    }
    private static final int RETRIES = 3;
}
""",
        {
            "settle": "3-6",
            "Billing": "2-8",
            "Billing.settle": "3-6",
        },
    ),
    ".rb": (
        """\
module Shop
  class Billing < Base
    def self.settle(x)
      x
    rescue Foo
      y
    end

    def valid?
      true
    end
  end
end
""",
        {
            "settle": "3-7",
            "Billing": "2-12",
            "Billing.valid?": "9-11",
            "Shop": "1-13",
        },
    ),
    ".sh": (
        """\
#!/bin/sh
settle() {
  cat <<EOF
}
EOF
}
function other {
  echo
}
""",
        {
            "settle": "2-6",
            "other": "7-9",
        },
    ),
    ".cs": (
        """\
namespace X
{
    public class Billing
    {
        public async Task<Result> Settle(Order o)
        {
            return @"C:\\";
        }
        public int Total => 3;
    }
}
""",
        {
            "Settle": "5-8",
            "Billing": "3-10",
            "Billing.Settle": "5-8",
        },
    ),
    ".php": (
        """\
<?php
class Billing {
    public function settle($x) {
        return 'it{';
    }
}
function top() { return 1; }
""",
        {
            "settle": "3-5",
            "Billing": "2-6",
            "Billing::settle": "3-5",
            "top": "7-7",
        },
    ),
}
