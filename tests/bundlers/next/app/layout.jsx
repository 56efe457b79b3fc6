export const metadata = { title: 'A small app', icons: '/icon.svg' };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
